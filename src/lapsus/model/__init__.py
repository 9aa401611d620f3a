"""The words of the house: documents, schemes, judgments. Immutable, checked when made, no input or output.

`lapsus.model.votes` stands apart because it needs numpy, which not every command does.
"""

from lapsus.model.document import BACKGROUND as BACKGROUND
from lapsus.model.document import ELEMENTS as ELEMENTS
from lapsus.model.document import SEPARATOR as SEPARATOR
from lapsus.model.document import TALK as TALK
from lapsus.model.document import Document as Document
from lapsus.model.document import Element as Element
from lapsus.model.document import Role as Role
from lapsus.model.document import Segment as Segment
from lapsus.model.frozen import EMPTY as EMPTY
from lapsus.model.frozen import FrozenDict as FrozenDict
from lapsus.model.frozen import freeze as freeze
from lapsus.model.judgment import ANONYMOUS as ANONYMOUS
from lapsus.model.judgment import Answer as Answer
from lapsus.model.judgment import Entry as Entry
from lapsus.model.judgment import Judgment as Judgment
from lapsus.model.judgment import Span as Span
from lapsus.model.judgment import UnitKey as UnitKey
from lapsus.model.judgment import anonymous_annotator as anonymous_annotator
from lapsus.model.judgment import latest as latest
from lapsus.model.scheme import Label as Label
from lapsus.model.scheme import Notes as Notes
from lapsus.model.scheme import Question as Question
from lapsus.model.scheme import Scheme as Scheme
from lapsus.model.scheme import TargetRule as TargetRule
from lapsus.model.scheme import Text as Text
from lapsus.model.scheme import UnitRule as UnitRule
from lapsus.model.scheme import in_language as in_language
from lapsus.model.unit import Unit as Unit
from lapsus.model.unit import unit as unit
from lapsus.model.unit import units as units
from lapsus.model.unit import visible_part as visible_part
