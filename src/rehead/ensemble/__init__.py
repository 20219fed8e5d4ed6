"""Several layers of a network: the consensus of the default, and the ensemble of the paper.

``problem.py`` what the layers are fitted on; ``fitted.py`` what a fit makes, whichever way;
``paper.py`` layers that are estimated alone and weighted (section 3.3); ``judges.py``,
``members.py``, ``weights.py`` the parts of ``consensus.py``; ``estimator.py`` the class.
"""

from rehead.ensemble.estimator import LayerEnsemble
from rehead.ensemble.fitted import Consensus, FittedEnsemble

__all__ = ["Consensus", "FittedEnsemble", "LayerEnsemble"]
