"""Systems that people talk to while a corpus is collected: our own bot, language models, endpoints, functions."""

from lapsus.collect.systems import NoReplyError, Replier, TalkSoFar, check_systems, make_system

__all__ = ["NoReplyError", "Replier", "TalkSoFar", "check_systems", "make_system"]
