"""Words of the field that name nothing a study could use or leave."""

from autoresearch.topic.words import words

_TEXT = """
rl rlhf rlvr llm lm ai ml nlp training train trained policy model reward finetuning fine tune tuning
sampling rollout reinforcement learning gradient run seed post optimizer ablation ablate sweep grid
study question experiment compare try test check find tell know see want setup default held
step equal update value parameter hyperparameter level loss algorithm method variant task data
divide dividing add adding remove removing raise raising lower lowering increase increasing decrease
decreasing change changing keep apply applying turn hurt harm worth win base recipe range interact
interaction depend number size amount result performance grpotrainer part role play importance
important sensitive sensitivity gain difference differ vary prompt sample generation
setting configuration config arm each own language across around near roughly about per still even
only first start stop become get go come stay remain leave lead cause prevent reduce avoid
allow enable need require expect hope wonder understand explain investigate explore analyze measure
report look please can could much sense suffice sufficient necessary ok okay good bad fine high low
higher big small tiny long short strong weak early late pick tradeoff
advantage group relative weight bias biased toward towards collapse happen then
pipeline bound affect affects affected hack hacked hacking really experiments
reference begin begins adam adamw grpoconfig
followed follow follows
filter filtering
take takes taking term terms
goes going getting match lora breaks breaking
evaluate evaluated evaluation eval test tested testing measured validated validation heldout out
lose loses losing batch batches safer faster slower stabler steadier stable unstable quicker
cleaner noisier smoother adapter
converge convergence converges diverge sooner later rather instead rows sum target tried
crossed cross times symmetric asymmetric whole entire itself everything
de facto novo ie eg etc aka priori
"""
FIELD = frozenset(words(_TEXT))
