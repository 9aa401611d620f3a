"""How a campaign goes and what comes of it: for the page, for the report, for whoever answers for the data."""

from lapsus.campaign_stats.campaign import CampaignStats, precompute_stats

__all__ = ["CampaignStats", "precompute_stats"]
