"""Logs that keep coming: judged once each, corrected by people, with alarms that hold at any time one looks."""
