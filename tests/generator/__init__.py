"""Random Murphi models: typed, accepted by construction, with few states, and symmetric in their scalarsets.

``generate(random)`` gives the text of a model. ``random`` is a ``random.Random``, or what hypothesis passes for one, so
that a failing model shrinks.

The rules by which a model is made:

* Every expression is built for a type, from what is in scope; nothing is generated and then thrown away.
* The variables together have few values, and parameters few instances: a search takes milliseconds.
* Stored integers are mostly brought into range first, divisors are mostly made non-zero, variables are mostly set in
  the startstate; the rest is left to chance, so that every runtime error turns up, but late enough to matter.
* What runs over a scalarset does not depend on the order: bodies of such loops assign to elements of their own, and
  conditions under such quantifiers cannot fail (``safe`` expressions), because the first element to fail or to decide
  would otherwise be a matter of names.
"""

from generator.models import generate, generate_with_formulas

__all__ = ["generate", "generate_with_formulas"]
