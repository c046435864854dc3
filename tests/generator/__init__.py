"""Random Murphi models: typed, accepted by construction, with few states, and symmetric in their scalarsets.

``generate(random)`` returns the text of a model. ``random`` is a ``random.Random``, or the substitute that hypothesis
passes, so that a failing model shrinks.

The rules by which a model is generated:

* Every expression is built for a type, from what is in scope; nothing is generated and then thrown away.
* The variables together have few values, and parameters few instances: a search takes milliseconds.
* Stored integers are mostly brought into range first, divisors are mostly made non-zero, variables are mostly set in
  the startstate; the rest is left to chance, so that every runtime error turns up, but late enough to matter.
* Loops and quantifiers over a scalarset do not depend on its order: bodies of such loops assign only to their own
  element, and conditions under such quantifiers cannot fail (``safe`` expressions). Otherwise the names of elements
  would decide which one fails or decides first.
"""

from generator.models import generate, generate_with_formulas

__all__ = ["generate", "generate_with_formulas"]
