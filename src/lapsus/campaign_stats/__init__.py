"""A campaign's statistics and report."""

from lapsus.campaign_stats.campaign import CampaignStats

__all__ = ["CampaignStats"]
