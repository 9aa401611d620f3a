"""A campaign's statistics and report."""

from lapsus.campaign_stats.campaign import CampaignStats, precompute_stats

__all__ = ["CampaignStats", "precompute_stats"]
