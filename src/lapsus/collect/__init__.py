"""Systems that people talk to while a corpus is collected: our own bot, language models, endpoints, functions."""

from lapsus.collect.systems import Replier, NoReplyError, TalkSoFar, make_system

__all__ = ["Replier", "NoReplyError", "TalkSoFar", "make_system"]
