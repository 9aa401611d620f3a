"""The tables. What people said is in `judgment` and only ever grows; the rest says who may, who will and who did.

A row of `assignment` is what one person has to do with one unit. It also points at the newest and the newest
submitted revision, so that no reader goes through history. Counters (`taken`, `done`, `level`, those of `member`
and `campaign_total`) change in the transaction that gives reason to, so that nothing is ever recounted.
"""

from lapsus.store.tables.base import FULL as FULL
from lapsus.store.tables.base import WHOLE as WHOLE
from lapsus.store.tables.base import metadata as metadata
from lapsus.store.tables.campaigns import api_token as api_token
from lapsus.store.tables.campaigns import assignment as assignment
from lapsus.store.tables.campaigns import attempt as attempt
from lapsus.store.tables.campaigns import campaign as campaign
from lapsus.store.tables.campaigns import campaign_document as campaign_document
from lapsus.store.tables.campaigns import campaign_total as campaign_total
from lapsus.store.tables.campaigns import check_result as check_result
from lapsus.store.tables.campaigns import document as document
from lapsus.store.tables.campaigns import draft as draft
from lapsus.store.tables.campaigns import draft_file as draft_file
from lapsus.store.tables.campaigns import event as event
from lapsus.store.tables.campaigns import expected as expected
from lapsus.store.tables.campaigns import flag as flag
from lapsus.store.tables.campaigns import flag_reply as flag_reply
from lapsus.store.tables.campaigns import identity as identity
from lapsus.store.tables.campaigns import invitation as invitation
from lapsus.store.tables.campaigns import judgment as judgment
from lapsus.store.tables.campaigns import member as member
from lapsus.store.tables.campaigns import message as message
from lapsus.store.tables.campaigns import person as person
from lapsus.store.tables.campaigns import scheme as scheme
from lapsus.store.tables.campaigns import setting as setting
from lapsus.store.tables.campaigns import unit as unit
from lapsus.store.tables.challenges import challenge as challenge
from lapsus.store.tables.challenges import challenge_document as challenge_document
from lapsus.store.tables.challenges import challenge_pair as challenge_pair
from lapsus.store.tables.challenges import challenge_run as challenge_run
from lapsus.store.tables.challenges import challenge_team as challenge_team
from lapsus.store.tables.stats import decision as decision
from lapsus.store.tables.stats import figure_block as figure_block
from lapsus.store.tables.stats import figure_change as figure_change
from lapsus.store.tables.stats import figure_day as figure_day
from lapsus.store.tables.stats import figure_pattern as figure_pattern
from lapsus.store.tables.stats import figure_state as figure_state
from lapsus.store.tables.stats import gold as gold
from lapsus.store.tables.stats import learned_document as learned_document
from lapsus.store.tables.stats import learned_unit as learned_unit
from lapsus.store.tables.stats import learning as learning
from lapsus.store.tables.stats import program_run as program_run
from lapsus.store.tables.talks import talk as talk
from lapsus.store.tables.talks import talk_answer as talk_answer
from lapsus.store.tables.talks import talk_turn as talk_turn
