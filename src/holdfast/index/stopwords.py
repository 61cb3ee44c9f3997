"""The words that are the same in every question, in the languages that people ask in most.

Made once and read at every start of the quick path; nothing is imported.
"""

_ENGLISH = (
    "a about after again all also am an and any are as at be because been before being between both but "
    "by can could did do does doing down during each few for from further had has have having he her here "
    "hers him his how i if in into is it its just me more most my no nor not now of off on once only or "
    "other our ours out over own please same she should so some such than that the their theirs them then "
    "there these they this those through to too under until up us very was we were what when where which "
    "while who whom whose why will with would you your yours don dont doesnt didnt isnt wasnt arent cant "
    "couldnt wont wouldnt shouldnt havent hasnt hadnt thats whats lets ive im youre theyre"
)
_GERMAN = (
    "aber als am an auch auf aus bei bin das dass dem den der des die dies diese du ein eine einen einer "
    "eines er es für gibt haben hat ich ihr im in ist ja kann kein keine man mit nach nicht noch nur ob "
    "oder sich sie sind so über um und uns von vor war warum was wann wenn wer werden wie wieso wir wird "
    "wo wurde zu zum zur"
)
_FRENCH = (
    "à au aux avec ce ces cette comment dans de des du elle en est et était il ils je la le les leur mais "
    "ne nous on ou où par pas plus pour pourquoi qu que quel quelle qui sa se ses son sont sur un une "
    "vous quand"
)
_SPANISH = (
    "a al como con cual cuando de del donde dónde el ella en entre es esta está este esto fue ha hay la "
    "las le lo los más me muy no nos o para pero por porque qué que quien se ser si sin sobre son su sus "
    "un una y ya cómo cuándo"
)
_PORTUGUESE = (
    "a ao aos as com como da das de do dos e é em era essa esse esta está este eu foi há isso mais mas na "
    "nas não no nos o os ou para pela pelo por porque qual quando que quem se sem ser seu sua são um uma "
    "onde"
)
_ITALIAN = (
    "a ai al alla anche che chi ci come con cosa da dal dalla dei del della di dove e è era gli ha ho i "
    "il in io la le lo ma mi nel nella non o per perché più quale quando questo se si sono su un una"
)
_DUTCH = (
    "aan als bij dat de der die dit een en er geen had hebben heeft het hij hoe ik in is je kan maar met "
    "naar niet nog of om ook op te tot uit van voor waar waarom was wat we welke werd wie zijn zo"
)
_RUSSIAN = (
    "в во и на не с со что это как а но по к у из за от о же бы для до или мы вы он она они его её их где "
    "когда почему зачем какой какая какие был была было были есть так"
)
_PAIRS = "我们 你们 他们 什么 为什 怎么 么样 如何 这个 那个 可以 因为 所以 没有 不是 是否 的是 了吗"

ENGLISH = frozenset(_ENGLISH.split())
OTHERS = tuple(
    frozenset(words.split()) for words in (_GERMAN, _FRENCH, _SPANISH, _PORTUGUESE, _ITALIAN, _DUTCH, _RUSSIAN)
)
PAIRS = frozenset(_PAIRS.split())  # of characters, where no spaces are written
