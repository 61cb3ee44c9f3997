"""The judge of contradictions and of twins, fitted by `bench/fit_conflicts.py`."""

CONFLICT_FROM = 0.34
CONFLICT = """
-0.7332
signals<=0.1250|must may alike<=0.1320|rule value<=0.5000|-0.0464|0.0985|0.1184|lean<=0.8373|held<=0.4594|-0.0136|0.0698|apart<=0.0794|0.1227|-0.0069
alike<=0.1732|topic alike<=0.0699|number alike<=0.0957|-0.0427|0.0921|lean alike<=0.0813|0.0284|0.1027|other value<=0.5000|signals<=0.1250|-0.0221|0.0536|rule value<=0.5000|0.0821|0.1445
signals<=0.1250|own least<=0.7292|rule value<=0.5000|-0.0306|0.1110|number<=0.5000|-0.0602|0.1185|own most<=0.8625|lean<=0.6033|0.0499|0.0971|lean<=0.9467|-0.0694|0.0534
signals<=0.3750|lean<=0.6044|own most<=0.7625|-0.0133|-0.0619|own most<=0.6875|0.0472|-0.0288|contrary<=0.6077|sibling<=0.2639|0.0559|-0.0787|flip<=0.8611|0.1004|0.1349
common<=0.2750|lean<=0.8393|own most<=0.7375|-0.0192|-0.0634|signals<=0.1250|-0.0194|0.0987|contrary more<=0.5000|no signal<=0.5000|0.0419|-0.0209|contrary<=0.2192|-0.0059|0.0866
own most<=0.6625|rule number<=0.5000|no signal<=0.5000|0.0486|-0.0254|own least<=0.4375|0.1251|0.0991|topic held<=0.3038|lean more<=0.5000|-0.0558|0.0149|0.1173
held<=0.3179|topic alike<=0.0812|lean more<=0.5000|-0.0418|0.0325|contrary<=0.0455|0.0913|-0.0743|signals<=0.1250|flip held<=0.1465|-0.0177|0.1047|apart most<=0.5000|0.0570|-0.0510
no signal<=0.5000|own most<=0.8375|apart<=0.3176|0.0392|-0.0816|lean more<=0.5000|-0.0658|0.0229|held<=0.2209|only<=0.1786|-0.0523|0.0872|own least<=0.1250|-0.0583|-0.0120
own most<=0.7625|lean alike<=0.0364|flip<=0.7574|0.0003|0.0664|apart most<=0.5000|0.0761|-0.0789|lean<=0.8366|subject<=0.2440|-0.0623|-0.0010|concord<=0.1099|0.1034|0.0115
no signal<=0.5000|lean<=0.6033|own least<=0.7292|0.0279|-0.0518|another<=0.5000|0.0660|-0.0469|own most<=0.6375|alike<=0.3452|-0.0271|0.0247|must may<=0.5000|-0.0570|0.0283
topic<=0.5000|deny one alike<=0.1453|rule number<=0.5000|-0.0255|0.0968|signals<=0.3750|0.0102|0.0612|sibling<=0.0370|number common<=0.3250|0.0671|-0.0072|-0.0304
alike<=0.1771|lean alike<=0.0569|number<=0.5000|-0.0384|0.0666|names differ<=0.5000|0.0169|0.0870|signals<=0.1250|flip<=0.2250|-0.0121|0.0975|number alike<=0.6429|0.0437|0.1073
alike<=0.1076|topics<=0.1667|lean<=0.6492|-0.0451|0.0532|topic alike<=0.0914|0.0348|0.1030|rule value<=0.5000|flip<=0.6795|0.0086|0.0627|lean alike<=0.0534|0.1212|0.0850
lean alike<=0.0569|alike<=0.2536|number alike<=0.0400|-0.0341|0.0738|contrary<=0.6277|0.0158|0.0799|flip<=0.5278|sibling<=0.1514|0.0412|-0.0825|lean alike<=0.6601|0.0900|0.0629
lean alike<=0.0569|rule number<=0.5000|rule negation<=0.5000|-0.0212|0.0613|number held<=0.8167|0.0511|0.0961|another only<=0.5000|signals<=0.3750|0.0324|0.0822|lean alike<=0.1512|0.0145|-0.0776
own most<=0.7625|rule number<=0.5000|no signal<=0.5000|0.0271|-0.0226|number near<=0.7750|0.0505|0.0960|names differ<=0.5000|opposed alike<=0.1505|-0.0608|0.0900|lean alike<=0.0131|-0.0329|0.0855
own most<=0.6875|topic<=0.5000|signals<=0.1250|-0.0171|0.0332|apart most<=0.5000|0.0685|-0.0602|role<=0.5000|deny one alike<=0.1771|-0.0474|0.0636|own most<=0.8750|0.0974|0.0333
alike<=0.1074|number held<=0.0794|lean alike<=0.0569|-0.0373|0.0633|0.1155|no signal<=0.5000|deny both<=0.5000|0.0313|-0.0897|own least<=0.1250|-0.0507|0.0064
alike<=0.1074|lean<=0.6073|lean flips<=0.8805|-0.0441|0.0982|own most<=0.9375|0.0564|-0.0323|flip held<=0.6991|held<=0.9800|0.0216|-0.0573|contrary<=0.0833|-0.0001|0.0712
rule value<=0.5000|rule negation<=0.5000|rule number<=0.5000|-0.0143|0.0772|deny one alike<=0.1742|0.0078|0.0757|own most<=0.5750|lean<=0.6842|0.1072|0.0809|role alike<=0.0861|0.1172|0.0173
lean more<=0.5000|own most<=0.6375|signals<=0.1250|-0.0141|0.0268|topic flips alike<=0.1798|-0.0473|0.1002|apart<=0.0500|signals<=0.1250|0.0073|0.0581|own least<=0.6042|-0.0810|0.0053
signals<=0.1250|alike<=0.1308|held<=0.0088|-0.0158|-0.0494|names added<=0.5000|0.0099|-0.0318|own least<=0.8542|sibling<=0.3586|0.0313|-0.0891|role<=0.5000|-0.0509|0.0809
rule negation<=0.5000|rule value<=0.5000|number alike<=0.0400|-0.0155|0.0344|alike<=0.2462|0.0609|0.0913|own most<=0.6750|held<=0.9562|0.0461|0.0830|-0.0886
rule value<=0.5000|deny one alike<=0.1696|number<=0.5000|-0.0215|0.0331|concord<=0.6533|0.0376|-0.0552|signals<=0.1250|own most<=0.2125|0.1129|0.1342|held<=0.0556|0.1138|0.0635
own most<=0.7625|contrary<=0.7166|lean flips<=0.7202|0.0024|0.0450|names shared<=0.2500|0.0833|0.0547|common<=0.0250|role<=0.5000|-0.0214|0.0991|topic alike<=0.1177|-0.0509|0.0704
topics<=0.1667|signals<=0.1250|must may alike<=0.1104|-0.0218|0.1298|own most<=0.9125|0.0203|-0.0608|number agrees<=0.5000|own most<=0.9750|0.0512|-0.0342|-0.1066
lean<=0.6044|alike<=0.2842|number alike<=0.0904|-0.0238|0.0356|concord<=0.7913|0.0313|-0.0257|topic<=0.5000|own most<=0.5125|0.0405|-0.0103|apart<=0.0794|0.0657|-0.0512
rule value<=0.5000|number all<=0.0651|deny one alike<=0.1524|-0.0201|0.0231|apart most<=0.5000|0.0440|-0.0895|role alike<=0.0566|concord<=0.2591|0.1257|0.0725|lean alike<=0.1198|0.0378|0.0732
own most<=0.7625|names differ<=0.5000|signals<=0.1250|-0.0148|0.0179|own least<=0.3542|0.0073|0.0580|elsewhere<=0.1081|lean<=0.9561|-0.0484|0.0592|0.1469
apart<=0.3150|signals<=0.1250|must may<=0.5000|-0.0197|0.1103|number held<=0.8611|0.0170|0.0790|flip<=0.3676|number common<=0.2000|-0.0777|-0.0864|-0.0941
own most<=0.7625|apart<=0.3367|topic<=0.5000|0.0065|0.0483|deny one alike<=0.1176|-0.0805|-0.0896|sibling<=0.0785|alike<=0.0038|-0.0081|-0.0488|names added<=0.5000|0.1001|-0.0596
rule value<=0.5000|flip held<=0.5100|number held<=0.8611|-0.0144|0.0629|contrary<=0.1458|-0.0094|0.0547|role same<=0.5000|lean<=0.6751|0.0815|0.0623|0.0019
own most<=0.7375|apart most<=0.5000|signals<=0.1250|-0.0000|0.0270|signals<=0.1250|-0.0257|-0.0684|names differ<=0.5000|opposed held<=0.3875|-0.0559|0.0814|own most<=0.9125|0.0560|-0.0328
own most<=0.8125|contrary<=0.7166|names differ<=0.5000|-0.0004|0.0332|topic flips alike<=0.9615|0.0723|0.0413|lean<=0.8276|own most<=0.9375|-0.0274|-0.0575|held<=0.1514|0.1041|-0.0171
apart<=0.3319|topics<=0.1667|rule number<=0.5000|-0.0064|0.0709|another only<=0.5000|0.0495|-0.0197|apart<=0.5066|lean<=0.6279|-0.0690|-0.0761|another<=0.5000|-0.0832|-0.0797
own most<=0.6875|common<=0.2750|lean agrees<=0.8677|-0.0142|0.0377|concord<=0.5374|0.0351|-0.0149|lean<=0.8393|names differ<=0.5000|-0.0484|-0.0186|signals<=0.1250|-0.0697|0.0525
lean<=0.6119|rare<=0.5000|alike<=0.3152|-0.0249|0.0173|sibling<=0.2667|0.0197|-0.0975|apart<=0.0500|sibling<=0.1548|0.0342|-0.0620|topic<=0.5000|-0.0752|-0.0230
rule number<=0.5000|number agrees<=0.5000|contrary<=0.7166|-0.0015|0.0602|no signal<=0.5000|-0.0972|-0.0316|number near<=0.7333|lean agrees<=0.7875|0.0818|-0.0179|number all<=0.7810|0.0721|-0.0008
common<=0.2750|topics<=0.1667|number held<=0.4722|-0.0260|0.0658|lean alike<=0.1493|0.0453|-0.0079|alike<=0.1505|names differ<=0.5000|-0.0584|-0.0090|apart most<=0.5000|0.0249|-0.0541
own most<=0.9375|sibling<=0.2176|lean flips<=0.6899|0.0028|0.0427|alike<=0.2614|0.0090|-0.0951|alike<=0.0040|concord<=0.0825|-0.0313|0.1114|concord<=0.1798|-0.0550|-0.0680
rule value<=0.5000|lean flips<=0.7202|lean<=0.6163|-0.0129|0.0273|alike<=0.1468|0.1155|0.0349|signals<=0.1250|own most<=0.2500|0.0952|0.1189|common<=0.1250|0.1060|0.0516
rule value<=0.5000|deny one alike<=0.1771|names differ<=0.5000|-0.0173|0.0152|apart<=0.3016|0.0248|-0.0809|lean agrees<=0.7412|signals<=0.1250|0.1119|0.0627|alike<=0.2440|-0.0258|0.0779
own most<=0.6875|apart<=0.3367|common<=0.3500|-0.0002|0.0265|topic agrees<=0.5000|-0.0777|-0.0748|topic flips alike<=0.1576|another only<=0.5000|-0.0342|0.0996|0.0895
own most<=0.8625|apart<=0.3367|number agrees<=0.5000|0.0136|-0.0459|deny one<=0.5000|-0.0710|-0.0767|subject<=0.2426|lean agrees<=0.6429|-0.0549|-0.0071|lean agrees<=0.7329|0.0655|-0.0607
names differ<=0.5000|flip held<=0.7968|rule number<=0.5000|-0.0152|0.0627|opposed alike<=0.7750|0.0512|-0.0293|held<=0.1235|role alike<=0.0212|0.0001|-0.0886|modal<=0.0861|0.0265|0.1196
role alike<=0.0471|lean<=0.6052|lean flips<=0.7207|-0.0151|0.0388|number added<=0.5000|0.0280|-0.0243|topics<=0.5000|role common<=0.5833|0.0322|0.0721|alike<=0.2929|0.0478|-0.0432
alike<=0.1732|lean flips<=0.6746|lean<=0.8604|-0.0234|0.0324|flip<=0.0408|0.1462|0.0139|deny both<=0.5000|own least<=0.3542|0.0094|0.0466|signals<=0.1250|-0.0654|-0.0797
rule value<=0.5000|rule negation<=0.5000|rule number<=0.5000|-0.0106|0.0565|own least<=0.0208|0.0678|0.0249|common<=0.1500|0.0964|common<=0.2750|0.0193|0.0599
own most<=0.7625|sibling<=0.2639|deny both<=0.5000|0.0121|-0.0716|signals<=0.3750|-0.0262|-0.0966|lean<=0.9561|opposed held<=0.3299|-0.0425|0.0715|names differ<=0.5000|-0.0027|0.0631
own most<=0.7625|rule modality<=0.5000|apart<=0.3367|0.0080|-0.0714|deny one alike<=0.0152|0.1065|0.0664|lean<=0.8393|held<=0.0088|0.0223|-0.0455|other value<=0.5000|0.0965|0.0063
must may<=0.5000|rule value<=0.5000|contrary<=0.7166|-0.0117|0.0526|role alike<=0.0552|0.0644|0.0399|deny one alike<=0.4643|all some<=0.5000|0.0928|0.0485|-0.0362
lean<=0.6052|contrary<=0.6259|number held<=0.9060|-0.0108|0.0583|own most<=0.2125|0.0451|0.0776|apart<=0.0500|signals<=0.3750|0.0160|0.0550|held<=0.4066|-0.0714|-0.0118
lean agrees<=0.7131|number alike<=0.1514|rule value<=0.5000|-0.0192|0.0534|number common<=0.2250|0.0765|0.0259|common<=0.0250|number added<=0.5000|0.1891|0.1072|own least<=0.3542|0.0007|0.0437
own most<=0.7625|rare<=0.5000|names differ<=0.5000|-0.0021|0.0287|apart<=0.4319|0.0287|-0.0726|topics<=0.5000|subject<=0.2426|-0.0414|0.0316|alike<=0.0516|0.0285|0.0631
rule value<=0.5000|rule negation<=0.5000|number near<=0.2250|-0.0124|0.0296|opposed held<=0.1923|0.0206|0.0700|other value<=0.5000|held<=0.3267|0.1058|0.0795|lean<=0.8358|-0.0083|0.0597
deny both<=0.5000|rule negation<=0.5000|names differ<=0.5000|-0.0138|0.0198|alike<=0.2783|-0.0189|0.0586|common<=0.3250|lean agrees<=0.7567|-0.0571|-0.0625|no signal<=0.5000|-0.0857|-0.0631
alike<=0.1074|number held<=0.0885|topics<=0.1667|-0.0213|0.0378|0.1124|apart<=0.3367|deny both<=0.5000|0.0166|-0.0665|signals<=0.3750|-0.0664|-0.0718
sibling<=0.1962|names differ<=0.5000|number alike<=0.5425|-0.0094|0.0595|must may<=0.5000|0.0190|0.1303|opposed held<=0.4643|another only<=0.5000|-0.0647|-0.0988|-0.0467
rule value<=0.5000|lean<=0.6044|must may<=0.5000|-0.0152|0.0603|lean alike<=0.0669|0.0640|0.0084|lean<=0.6832|role common<=0.5417|0.0849|0.0394|topic held<=0.0952|0.0612|0.0567
only<=0.5374|opposed alike<=0.2971|names differ<=0.5000|-0.0087|0.0222|held<=0.6733|0.0801|0.0429|-0.1075
lean<=0.8475|sibling<=0.3022|lean flips<=0.7206|-0.0084|0.0287|lean agrees<=0.6667|-0.0928|-0.0850|apart<=0.2406|deny one<=0.5000|0.0331|0.0634|-0.0748
own most<=0.7625|apart<=0.3288|concord<=0.3542|0.0141|-0.0105|lean flips<=0.3067|-0.0671|-0.0727|subject<=0.2426|opposed held<=0.3875|-0.0447|0.1151|names differ<=0.5000|-0.0389|0.1224
names differ<=0.5000|number agrees<=0.5000|alike<=0.2536|-0.0171|0.0155|contrary more<=0.5000|-0.0689|0.0150|rare<=0.5000|lean flips<=0.7202|0.0099|0.1087|topic alike<=0.2323|0.0541|-0.0168
contrary<=0.7166|own least<=0.1250|rule negation<=0.5000|-0.0471|0.0321|number agrees<=0.5000|0.0022|-0.0474|signals<=0.3750|-0.0099|deny one alike<=0.3525|0.0712|0.0618
common<=0.2750|must may<=0.5000|lean flips<=0.6746|-0.0189|0.0420|lean agrees<=0.6114|0.0967|-0.0088|held<=0.8452|sibling<=0.2143|0.0207|-0.0585|concord<=0.1952|0.0139|-0.0432
topic<=0.5000|lean agrees<=0.7275|common<=0.8250|-0.0103|-0.0836|held<=0.9800|0.0266|-0.0320|another only<=0.5000|topic alike<=0.3267|0.0436|0.0023|-0.0504
own most<=0.7625|signals<=0.1250|flip held<=0.1160|-0.0061|0.1130|sibling<=0.3222|0.0224|-0.0864|role<=0.5000|lean flips<=0.6882|-0.0406|0.0520|role alike<=0.0602|0.1117|-0.0378
lean<=0.6033|must may<=0.5000|role alike<=0.0569|-0.0101|0.0621|flip<=0.6944|0.0799|-0.0430|apart<=0.0500|own least<=0.3542|0.0059|0.0513|own most<=0.5125|-0.0788|0.0358
apart<=0.3367|topic held<=0.0319|deny both<=0.5000|0.0008|-0.0735|sibling<=0.1577|0.0407|-0.0870|flip held<=0.3560|topic<=0.5000|-0.0653|-0.0678|-0.0702
common<=0.2750|topic flips alike<=0.0825|lean agrees<=0.8514|-0.0144|0.0319|flip alike<=0.1144|-0.0686|-0.0180|deny both<=0.5000|alike<=0.1478|-0.0304|0.0187|lean agrees<=0.8648|-0.0263|-0.0722
apart most<=0.5000|lean flips<=0.6911|number agrees<=0.5000|-0.0011|-0.0560|flip held<=0.0040|0.1127|0.0182|common<=0.5500|own most<=0.6125|-0.0695|-0.0045|0.0452
signals<=0.8750|lean agrees<=0.6805|topic flips alike<=0.0829|-0.0049|-0.0353|number loose held<=0.3667|0.0122|0.0627|changes alike<=0.1683|held<=0.7750|0.0152|0.0627|own least<=0.0208|0.0626|0.0702
concord<=0.0049|lean agrees<=0.6046|number<=0.5000|-0.0043|0.0759|own most<=0.3125|0.0034|0.0538|lean<=0.9561|number near<=0.2250|-0.0199|0.0315|concord<=0.1497|0.0630|0.0227
lean flips<=0.7202|names differ<=0.5000|number held<=0.8611|-0.0123|0.0507|another<=0.5000|0.0244|-0.0603|flip held<=0.2179|names added<=0.5000|0.0553|0.1012|flip held<=0.3531|-0.0397|0.0348
common<=0.2750|alike<=0.0038|signals<=0.1250|0.0024|0.0612|own most<=0.3125|-0.0285|-0.0103|sibling most<=0.5000|number agrees<=0.5000|0.0177|-0.0476|own most<=0.3500|-0.0613|0.0516
lean alike<=0.0513|only<=0.5425|rule negation<=0.5000|-0.0105|0.0283|-0.0861|names added<=0.5000|apart<=0.3143|0.0369|-0.0639|deny one alike<=0.1684|-0.0281|0.0613
deny both<=0.5000|lean<=0.8475|number added<=0.5000|0.0039|-0.0276|own most<=0.4125|0.0033|0.0478|contrary<=0.2679|lean agrees<=0.8612|-0.0489|-0.0690|-0.0849
apart<=0.3367|number added<=0.5000|names differ<=0.5000|0.0028|0.0343|apart<=0.2569|-0.0213|0.0925|signals<=0.3750|-0.0633|own least<=0.1875|-0.0659|-0.0686
another<=0.5000|lean agrees<=0.7275|only<=0.3205|-0.0064|-0.0988|own least<=0.3542|-0.0023|0.0525|own most<=0.4625|signals<=0.3750|-0.0445|-0.0809|flip held<=0.0402|0.0270|0.0896
number loose<=0.5000|only<=0.5227|opposed alike<=0.3207|-0.0040|0.0352|-0.1012|number alike<=0.2614|concord<=0.2721|0.0346|0.1241|rule number<=0.5000|-0.0302|0.0369
names added<=0.5000|sibling<=0.3267|number loose<=0.5000|0.0087|0.0482|concord<=0.3590|-0.0876|-0.0387|number alike<=0.1833|flip alike<=0.4069|-0.0241|0.0442|topic agrees<=0.5000|0.0781|0.0177
own most<=0.9375|own least<=0.0625|flip<=0.9338|-0.0439|0.0201|flip<=0.4575|0.0155|-0.0104|lean<=0.9064|deny one alike<=0.1832|-0.0486|0.0801|rare<=0.1667|0.0515|-0.1172
topic<=0.5000|opposed alike<=0.3185|number loose held<=0.4353|-0.0105|0.0507|flip alike<=0.6863|0.0552|-0.0725|own least<=0.4583|another only<=0.5000|0.0215|-0.0868|own most<=0.9375|0.0476|-0.0330
sibling<=0.1962|apart<=0.3367|number<=0.5000|0.0025|0.0312|flip<=0.3077|-0.0640|-0.0677|held<=0.5147|number held<=0.2500|0.0267|-0.0758|-0.0796
own most<=0.9375|own least<=0.3542|number added<=0.5000|0.0055|-0.0431|no signal<=0.5000|0.0330|0.0052|held<=0.0088|role<=0.5000|-0.0165|0.0768|another only<=0.5000|-0.0524|0.0580
another<=0.5000|number agrees<=0.5000|lean<=0.6033|0.0011|0.0290|topic alike<=0.0417|-0.0316|-0.1071|held<=0.6429|sibling<=0.1514|-0.0428|-0.0833|0.0102
own least<=0.1250|lean flips<=0.3049|deny one alike<=0.8444|-0.0521|0.0227|flip held<=0.7968|-0.0350|0.0464|alike<=0.2428|must may<=0.5000|-0.0054|0.0879|another<=0.5000|0.0256|-0.0423
held<=0.0088|must may<=0.5000|role<=0.5000|0.0336|0.0538|all some<=0.5000|0.1409|0.1270|sibling<=0.1514|held<=0.1883|-0.0313|0.0050|own most<=0.4125|-0.0731|0.0084
sibling<=0.3267|own most<=0.9375|signals<=0.3750|0.0004|0.0188|contrary<=0.1883|-0.0481|-0.0891|rare<=0.5000|-0.0607|-0.0772
own most<=0.9125|apart<=0.3367|topic<=0.5000|0.0042|0.0365|another<=0.5000|-0.0670|-0.0618|deny one alike<=0.1812|sibling<=0.0899|-0.0473|0.0730|0.1473
concord<=0.3009|lean agrees<=0.7610|own most<=0.9375|0.0053|-0.0515|adds<=0.5000|0.0175|0.1057|number held<=0.8611|role alike<=0.1569|-0.0247|0.0575|names added<=0.5000|0.0616|-0.0725
concord<=0.6991|number agrees<=0.5000|apart<=0.2096|0.0022|-0.0556|concord<=0.3009|0.0055|-0.0874|number common<=0.0250|topic flips<=0.5000|-0.0385|-0.0975|concord<=0.9706|-0.1110|0.0651
rule modality<=0.5000|elsewhere<=0.3090|names differ<=0.5000|-0.0078|0.0171|own least<=0.1875|0.0023|-0.0696|common<=0.6250|contrary<=0.0109|0.1183|0.0612|-0.0433
lean flips<=0.7095|role same<=0.5000|names shared<=0.2500|-0.0070|0.0186|number loose held<=0.2020|-0.0397|0.0656|contrary<=0.0278|topic agrees<=0.5000|-0.0545|0.0552|alike<=0.1017|0.0941|0.0313
apart<=0.0500|role<=0.5000|rare<=0.1667|-0.0113|0.0089|concord<=0.0392|0.0658|0.0217|lean<=0.7228|opposed<=0.5000|-0.0609|0.0259|apart<=0.2833|-0.0883|-0.0674
sibling<=0.3586|apart<=0.3150|own most<=0.6875|0.0071|-0.0173|lean agrees<=0.6600|-0.0616|-0.0643|another only<=0.5000|-0.0323|-0.0705
denied outright<=0.5000|topic flips alike<=0.3038|must may alike<=0.0764|-0.0041|0.0518|held<=0.9762|-0.0807|0.0506|flip alike<=0.0012|0.1084|flip held<=0.3780|-0.0161|0.0397
own least<=0.3542|alike<=0.2832|opposed<=0.5000|-0.0247|-0.0695|rule number<=0.5000|-0.0040|0.0596|held<=0.4686|concord<=0.2971|0.0021|-0.0429|alike<=0.3299|0.0795|0.0080
common<=0.3500|alike<=0.1476|lean agrees<=0.6058|-0.0097|0.0262|topic alike<=0.1952|-0.0430|0.0409|held<=0.7560|flip held<=0.2153|0.0287|-0.0195|contrary<=0.4753|-0.0396|0.0366
alike<=0.3038|held<=0.6991|deny one alike<=0.2540|-0.0023|0.0488|names shared<=0.2500|-0.0666|-0.0447|apart<=0.1462|deny both<=0.5000|0.0235|-0.0715|lean agrees<=0.7391|-0.0591|-0.0612
number added<=0.5000|apart<=0.0500|own most<=0.8125|0.0111|-0.0236|alike<=0.2649|-0.0244|-0.0712|held<=0.7279|lean agrees<=0.6426|-0.0355|0.0410|own least<=0.1042|-0.0470|-0.0668
number added<=0.5000|common<=0.4750|number loose held<=0.3205|-0.0007|0.0399|concord<=0.4900|0.0362|-0.0111|role alike<=0.0551|concord<=0.4853|-0.0164|-0.0623|own least<=0.5208|-0.0055|0.1170
own most<=0.7625|another only<=0.5000|must may<=0.5000|0.0068|0.0562|own most<=0.4625|-0.0652|0.0663|lean<=0.8393|alike<=0.0038|0.0254|-0.0396|alike<=0.1039|0.0627|-0.0290
common<=0.2750|common<=0.0250|must may<=0.5000|0.0276|0.1193|only<=0.1952|-0.0185|0.0684|opposed alike<=0.6863|deny both<=0.5000|0.0168|-0.0549|-0.0864
modal<=0.0931|elsewhere<=0.3131|alike<=0.0039|0.0375|-0.0029|lean<=0.8497|-0.0607|0.0783|all some<=0.5000|alike<=0.1231|0.1128|0.0376|only<=0.1255|0.0062|-0.0601
rule modality<=0.5000|modal<=0.0377|sibling<=0.1695|-0.0009|-0.0654|modal<=0.3020|0.0531|-0.0860|topic flips alike<=0.7574|contrary<=0.0102|0.0950|0.0617|-0.0628
topic alike<=0.0146|contrary<=0.8091|must may alike<=0.4722|-0.0032|-0.0939|deny one alike<=0.2970|0.0762|0.0582|apart<=0.0500|own least<=0.3542|0.0212|0.0511|common<=0.2250|0.0079|-0.0540
apart<=0.0500|number agrees<=0.5000|own most<=0.5125|0.0121|-0.0077|signals<=0.1250|-0.0274|-0.0747|lean alike<=0.0326|names added<=0.5000|-0.0609|-0.0136|signals<=0.1250|-0.0597|-0.0760
held<=0.0088|lean agrees<=0.7260|deny one<=0.5000|0.0043|0.0405|topic agrees<=0.5000|0.1140|0.0402|number held<=0.9060|common<=0.4750|-0.0099|0.0126|number loose held<=0.5278|0.0624|0.0429
only<=0.3485|names added<=0.5000|sibling<=0.3222|0.0094|-0.0684|number all<=0.2288|-0.0154|0.0398|common<=0.5250|-0.0417|-0.1115
names shared<=0.7500|rule modality<=0.5000|deny both<=0.5000|0.0009|-0.0688|own most<=0.2625|0.0668|-0.0796|common<=0.7000|-0.0192|flip held<=0.2025|-0.0881|-0.0460
number agrees<=0.5000|other value<=0.5000|own least<=0.2292|-0.0161|0.0041|own most<=0.6875|0.0232|-0.0120|own least<=0.6250|contrary<=0.2788|-0.0688|0.0002|own most<=0.8500|0.1750|-0.0533
opposed alike<=0.6863|must may<=0.5000|deny both<=0.5000|-0.0033|-0.0640|flip alike<=0.0303|0.0719|-0.0480|concord<=0.1429|0.0161|-0.0958
only<=0.5425|rule modality<=0.5000|lean<=0.6044|-0.0005|0.0174|contrary<=0.0211|0.1003|0.0571|no signal<=0.5000|-0.0942|-0.0433
number agrees<=0.5000|alike<=0.0038|number loose<=0.5000|0.0269|0.0686|modal<=0.0377|-0.0058|0.0319|subject<=0.9000|held<=0.2426|0.0246|-0.0572|0.0254
held<=0.8048|must may<=0.5000|own most<=0.8125|0.0051|-0.0336|flip<=0.4318|0.0711|-0.0483|contrary more<=0.5000|lean flips<=0.8265|-0.0578|0.0350|all some<=0.5000|0.0310|-0.0831
sibling<=0.3267|only<=0.5374|lean agrees<=0.6802|-0.0076|0.0150|-0.0864|alike<=0.2792|-0.0452|-0.0663
alike<=0.2540|number loose<=0.5000|flip alike<=0.0485|-0.0106|0.0205|common<=0.0250|0.1280|0.0201|held<=0.7560|contrary<=0.3090|0.0350|-0.0105|rule modality<=0.5000|-0.0155|0.0669
rule value<=0.5000|elsewhere<=0.3152|rule negation<=0.5000|-0.0079|0.0211|lean agrees<=0.6111|-0.0022|-0.0628|role common<=0.2500|topics<=0.1667|0.0600|0.0578|concord<=0.1695|0.0053|0.0594
only<=0.7321|lean agrees<=0.6429|lean flips<=0.7202|-0.0086|0.0391|contrary<=0.3117|0.0149|-0.0089|-0.0802
opposed denied<=0.5000|flip held<=0.2153|held<=0.7560|0.0094|-0.0333|contrary<=0.4143|-0.0351|0.0254|topic flips alike<=0.1272|own least<=0.3542|-0.0843|0.0017|-0.1101
number agrees<=0.5000|alike<=0.0970|lean flips<=0.6930|-0.0163|0.0708|apart<=0.3367|0.0109|-0.0596|no signal<=0.5000|flip held<=0.7574|-0.0803|-0.0315|lean agrees<=0.6663|0.0444|-0.0517
only<=0.3485|only<=0.2403|deny both<=0.5000|0.0008|-0.0635|own most<=0.5625|0.0717|-0.0588|only<=0.5152|-0.0446|-0.0756
alike<=0.0038|lean flips<=0.3004|must may<=0.5000|0.0313|0.1078|0.0789|lean agrees<=0.7131|number common<=0.0250|-0.0161|0.0227|own least<=0.3542|-0.0025|0.0325
alike<=0.0038|number loose<=0.5000|lean agrees<=0.6055|0.0027|0.1019|own least<=0.7500|0.0835|0.1476|names added<=0.5000|apart<=0.0500|0.0060|-0.0656|contrary<=0.3179|-0.0214|0.0394
lean flips<=0.7206|only<=0.2403|rare<=0.5000|-0.0075|0.0142|held<=0.6410|0.0997|-0.0145|own least<=0.3958|denied outright<=0.5000|-0.0194|0.0521|own least<=0.8958|0.0730|-0.0596
common<=0.4750|flip alike<=0.1459|must may alike<=0.1404|-0.0010|0.0760|contrary<=0.5778|-0.0465|0.0480|concord<=0.8048|own most<=0.3750|0.0419|0.0043|signals<=0.3750|-0.0018|-0.0904
alike<=0.3780|must may alike<=0.0764|lean agrees<=0.8223|-0.0108|0.0141|flip alike<=0.0392|0.0857|-0.0117|concord<=0.7824|no signal<=0.5000|0.0142|0.0532|rule number<=0.5000|-0.0676|0.0636
flip<=0.0211|alike<=0.3780|held<=0.7212|0.0014|-0.0536|common<=0.8250|0.0365|-0.0558|flip<=0.9338|alike<=0.3179|-0.0171|-0.0526|deny one alike<=0.0568|-0.0554|0.0184
own least<=0.1250|lean flips<=0.6046|names shared<=0.2500|-0.0409|-0.0070|contrary<=0.2222|-0.0186|0.0359|sibling<=0.2143|lean agrees<=0.6046|-0.0008|0.0164|lean agrees<=0.6472|-0.0760|-0.0251
opposed held<=0.3288|names differ<=0.5000|flip held<=0.7085|-0.0146|0.0293|own most<=0.4125|-0.0217|0.0364|own most<=0.4625|signals<=0.3750|0.0402|-0.0073|alike<=0.1505|-0.0050|0.0784
role alike<=0.0471|rule value<=0.5000|lean flips<=0.6916|-0.0091|0.0180|lean alike<=0.1220|0.0716|0.0593|topics<=0.5000|held<=0.3923|0.0644|0.0204|subject<=0.1667|0.0379|-0.0445
only<=0.2403|rare<=0.5000|rule value<=0.5000|-0.0076|0.0357|own least<=0.0625|-0.0021|0.0192|own least<=0.1042|-0.0771|contrary<=0.2462|0.1102|-0.0029
subject<=0.3723|sibling<=0.3022|opposed alike<=0.6863|-0.0035|-0.0724|alike<=0.3152|-0.0650|-0.0696|concord<=0.3222|apart<=0.3426|0.0323|-0.0592|topic held<=0.1176|-0.0223|0.0573
number common<=0.4250|number loose held<=0.5857|alike<=0.3038|-0.0068|0.0118|number near<=0.9444|0.0818|0.0564|concord<=0.8754|number loose held<=0.5647|-0.0474|-0.1082|number loose held<=0.3462|0.0587|0.0572
number common<=0.4250|subject<=0.3923|names added<=0.5000|0.0055|-0.0119|modal<=0.2679|0.0275|-0.0870|number alike<=0.8663|own least<=0.1875|-0.1558|-0.0280|signals<=0.3750|0.0583|0.0564
elsewhere<=0.3131|elsewhere<=0.2134|role alike<=0.1067|-0.0019|0.0394|rare<=0.5000|0.0216|0.0989|flip alike<=0.0913|own most<=0.1125|0.0445|-0.0631|0.0143
topic held<=0.1240|own least<=0.3542|flip<=0.9338|-0.0185|0.0167|own least<=0.7292|0.0142|-0.0173|opposed alike<=0.0542|own least<=0.4583|0.0149|0.0536|rule negation<=0.5000|-0.0356|0.0597
held<=0.0091|adds<=0.5000|lean agrees<=0.8279|0.0205|0.0946|own most<=0.8875|-0.0590|-0.0553|rare<=0.1667|rule negation<=0.5000|-0.0323|0.0719|sibling most<=0.5000|0.0019|-0.0387
only<=0.5374|own most<=0.9375|alike<=0.1512|0.0178|-0.0018|lean alike<=0.0627|-0.0349|-0.0896|-0.0670
number common<=0.4250|number all<=0.1633|rule value<=0.5000|-0.0056|0.0455|own least<=0.6875|0.0217|0.1107|number alike<=0.8663|own most<=0.4125|-0.0819|0.0016|signals<=0.3750|0.0578|0.0562
modal<=0.0377|rule modality<=0.5000|apart<=0.3150|-0.0013|-0.0591|held<=0.3056|-0.0575|0.0913|own most<=0.3125|lean agrees<=0.8169|-0.0401|0.0572|flip held<=0.0247|0.0201|0.0787
elsewhere<=0.3131|elsewhere<=0.2134|number common<=0.7250|-0.0026|-0.0952|concord<=0.2319|0.1482|0.0066|lean<=0.3027|own most<=0.3125|-0.0698|-0.0367|held<=0.6410|0.0543|-0.0153
elsewhere<=0.5857|own most<=0.9375|number agrees<=0.5000|0.0065|-0.0377|role<=0.5000|-0.0491|0.0173|-0.1018
only<=0.3571|own most<=0.9375|own least<=0.3542|-0.0031|0.0174|lean alike<=0.0630|-0.0344|-0.0883|no signal<=0.5000|-0.1017|0.0236
alike<=0.1510|number alike<=0.0338|must may alike<=0.0879|0.0010|0.0822|topic agrees<=0.5000|0.0845|-0.0123|opposed held<=0.3923|sibling most<=0.5000|-0.0086|-0.0695|lean agrees<=0.6509|0.0529|-0.0001
common<=0.0250|subject<=0.1548|must may<=0.5000|0.0274|0.0954|own least<=0.5208|-0.0615|-0.0108|role common<=0.1250|topics<=0.5000|-0.0067|0.0555|lean alike<=0.1171|0.0528|-0.0001
lean<=0.9092|number held<=0.8611|number held<=0.6333|-0.0009|-0.0825|number common<=0.3250|0.0635|0.0491|sibling most<=0.5000|flip alike<=0.0930|0.0406|-0.0171|-0.0423
concord<=0.0339|role alike<=0.0569|must may<=0.5000|0.0029|0.0607|0.0648|number<=0.5000|names shared<=0.2500|-0.0190|0.0121|number alike<=0.3452|0.0306|0.0041
apart<=0.0500|own most<=0.4375|own most<=0.4125|0.0062|0.0468|concord<=0.2437|-0.0000|-0.0407|own most<=0.4750|own most<=0.3375|-0.0601|-0.0768|apart<=0.3111|-0.0164|0.0769
modal<=0.0931|role alike<=0.1037|number all<=0.7633|-0.0066|-0.1159|another only<=0.5000|0.0464|-0.0662|flip alike<=0.1329|own least<=0.6875|0.0731|-0.0385|contrary<=0.3009|0.0429|0.0042
own least<=0.0625|rule negation<=0.5000|lean alike<=0.2636|-0.0477|0.0324|held<=0.9562|-0.1051|0.0547|alike<=0.2536|number<=0.5000|-0.0068|0.0393|lean flips<=0.6132|0.0302|-0.0234
names added<=0.5000|apart most<=0.5000|alike<=0.0812|-0.0076|0.0146|held<=0.0132|-0.0725|-0.0473|number<=0.5000|alike<=0.5857|-0.0168|0.0775|number loose<=0.5000|0.0805|-0.0004
elsewhere<=0.3117|rare<=0.1667|flip<=0.3571|-0.0117|-0.0865|sibling<=0.2802|0.0048|-0.0637|lean agrees<=0.7853|alike<=0.2495|-0.0510|0.0106|common<=0.5250|-0.0323|-0.0959
flip alike<=0.1450|lean flips<=0.6746|common<=0.2750|-0.0101|0.0153|deny one alike<=0.1861|0.0846|-0.0073|flip<=0.6795|role same<=0.5000|-0.0720|-0.0118|contrary more<=0.5000|-0.0384|0.0126
own least<=0.0625|contrary<=0.7279|flip alike<=0.6603|-0.0277|-0.0773|flip names<=0.5000|0.0575|-0.0012|own least<=0.7292|number all<=0.7101|0.0119|-0.0568|subject<=0.5833|-0.0203|0.0905
deny both<=0.5000|number agrees<=0.5000|lean<=0.9179|0.0032|0.0384|signals<=0.1250|0.0166|-0.0633|contrary<=0.2679|flip<=0.2250|-0.0454|-0.0631|-0.0748
only<=0.4924|rare<=0.1667|topic flips alike<=0.1074|-0.0103|-0.0744|number common<=0.7000|0.0065|-0.0518|-0.0857
number common<=0.2250|number alike<=0.1053|number loose held<=0.4167|0.0008|0.0626|own most<=0.4625|0.0457|0.0841|number all<=0.4496|number held<=0.6111|-0.0882|-0.0154|rule number<=0.5000|-0.0491|0.0327
names shared<=0.2500|opposed alike<=0.3117|opposed alike<=0.2179|-0.0056|-0.0799|signals<=0.3750|0.0799|0.0110|signals<=0.1250|names differ<=0.5000|-0.0130|0.0795|held<=0.3444|0.0811|0.0212
number common<=0.7250|contrary<=0.3090|alike<=0.3780|-0.0020|0.0273|flip held<=0.5147|-0.0413|0.0145|-0.0833
must may alike<=0.4575|elsewhere<=0.2319|rule number<=0.5000|-0.0008|0.0474|lean<=0.8503|-0.0383|0.0276|-0.1168
common<=0.0250|apart<=0.0500|lean agrees<=0.6912|0.0226|0.1171|own least<=0.6875|-0.0652|-0.0552|opposed held<=0.3923|topic held<=0.1404|-0.0048|0.0208|flip alike<=0.3542|0.0366|-0.0141
names added<=0.5000|names differ<=0.5000|contrary<=0.6253|-0.0067|0.0463|concord<=0.3923|0.0196|-0.0444|own least<=0.1875|flip names<=0.5000|-0.0387|0.0619|opposed held<=0.2474|-0.0088|0.0623
must may alike<=0.4496|must may alike<=0.1861|apart<=0.2096|0.0015|-0.0432|0.0576|-0.0758
rule number<=0.5000|own most<=0.9625|deny both<=0.5000|0.0046|-0.0615|deny one alike<=0.1722|-0.0512|0.1380|concord<=0.3267|0.0072|number loose held<=0.6077|0.0615|0.0392
rule negation<=0.5000|flip alike<=0.1566|common<=0.3500|-0.0095|0.0108|modal<=0.1154|-0.0418|0.0246|lean agrees<=0.9667|own most<=0.2375|0.0562|0.0248|contrary<=0.2525|0.0651|-0.0267
concord<=0.0267|elsewhere<=0.2462|topic flips alike<=0.3923|0.0099|-0.0353|0.0673|concord<=0.0593|role alike<=0.0271|-0.0491|-0.1026|elsewhere<=0.5374|-0.0044|-0.0849
only<=0.5227|number held<=0.9060|number agrees<=0.5000|-0.0003|-0.0360|deny one<=0.5000|0.0557|-0.0212|-0.0814
sibling<=0.2721|names added<=0.5000|apart most<=0.5000|0.0110|-0.0503|role<=0.5000|-0.0154|0.0575|held<=0.4643|-0.0416|flip held<=0.1250|-0.0515|-0.0652
number loose<=0.5000|names shared<=0.2500|own least<=0.3542|-0.0131|0.0032|lean agrees<=0.8157|0.0329|-0.0144|common<=0.1500|names added<=0.5000|0.1089|0.0646|flip alike<=0.1200|0.0250|-0.0871
number loose held<=0.5425|concord<=0.5314|lean agrees<=0.8070|-0.0065|0.0097|deny one alike<=0.2452|-0.0252|-0.0562|own most<=0.2125|held<=0.7212|0.0011|0.0573|0.0763
common<=0.0250|own most<=0.9375|own most<=0.8375|0.0207|0.1825|own least<=0.5208|0.0275|-0.0564|common<=0.4750|topic flips alike<=0.0829|-0.0040|-0.0256|number common<=0.7250|0.0151|-0.0636
lean more<=0.5000|only<=0.3723|concord<=0.5955|0.0014|-0.0311|no signal<=0.5000|-0.0861|0.0160|another only<=0.5000|lean<=0.7097|0.0579|0.0154|alike<=0.1535|0.0395|-0.0711
own least<=0.0625|rule negation<=0.5000|lean alike<=0.3871|-0.0440|0.0324|flip held<=0.5425|0.0738|0.0209|elsewhere<=0.3090|lean agrees<=0.7047|-0.0009|0.0161|lean agrees<=0.7830|0.0009|-0.0504
common<=0.3500|number held<=0.2229|contrary<=0.1695|-0.0091|-0.0296|held<=0.2721|0.0623|-0.0032|concord<=0.4924|number agrees<=0.5000|0.0156|-0.0468|alike<=0.7101|-0.0229|0.0269
only<=0.2403|rare<=0.5000|flip alike<=0.1465|-0.0027|-0.0392|number loose held<=0.5857|0.0066|0.0640|only<=0.5278|own most<=0.3125|0.1004|0.0499|-0.0161
deny both<=0.5000|rare<=0.1667|opposed denied<=0.5000|-0.0071|-0.0869|own most<=0.9375|0.0097|-0.0460|topic agrees<=0.5000|opposed denied<=0.5000|-0.0604|0.0719|held<=0.9444|-0.0723|-0.0613
deny both<=0.5000|must may<=0.5000|rule modality<=0.5000|0.0005|0.0690|lean agrees<=0.6114|0.0529|0.0031|contrary<=0.2426|alike<=0.3074|-0.0265|-0.0587|-0.0733
rule number<=0.5000|deny both<=0.5000|number held<=0.5278|-0.0018|-0.0764|no signal<=0.5000|-0.0658|-0.0554|signals<=0.3750|number alike<=0.9615|0.0555|0.0565|flip alike<=0.0625|0.0554|0.0582
modal<=0.0931|alike<=0.3693|topic alike<=0.0696|-0.0063|0.0251|own least<=0.2292|0.0087|0.0495|own most<=0.4125|lean agrees<=0.8768|0.0000|0.0688|all some<=0.5000|0.0700|-0.0743
number held<=0.8944|number common<=0.2250|number held<=0.2229|-0.0051|0.0395|subject<=0.4722|-0.0136|-0.0989|number loose held<=0.7212|signals<=0.3750|0.0592|0.0563|-0.0316
names differ<=0.5000|rule value<=0.5000|lean alike<=0.2446|-0.0120|0.0205|role alike<=0.0726|0.0700|0.0268|own most<=0.4125|deny one alike<=0.2462|-0.0296|0.0609|held<=0.2213|0.0043|0.0479
lean more<=0.5000|only<=0.2268|role common<=0.1250|-0.0057|0.0537|own least<=0.0208|-0.0644|0.0569|another only<=0.5000|alike<=0.1450|0.0357|0.0132|role alike<=0.0200|-0.0204|-0.0782
must may<=0.5000|common<=0.8250|alike<=0.3780|-0.0027|0.0175|concord<=0.6841|-0.0066|-0.0903|signals<=0.1250|own most<=0.9125|0.0751|-0.0547|opposed alike<=0.0678|-0.0162|0.0693
contrary<=0.6340|own least<=0.0625|topic flips alike<=0.3736|-0.0346|-0.0557|alike<=0.2536|-0.0023|0.0165|lean agrees<=0.8408|names shared<=0.2500|0.0582|0.0219|deny one alike<=0.4853|0.0753|0.0456
concord<=0.6533|contrary<=0.4721|topic flips alike<=0.3828|0.0007|-0.0667|signals<=0.3750|-0.0386|0.0448|rule negation<=0.5000|topic flips<=0.5000|-0.0175|-0.0815|-0.0741
rule value<=0.5000|sibling<=0.1484|number near<=0.9444|-0.0053|0.0570|sibling<=0.2440|-0.0758|-0.0163|role common<=0.2500|lean<=0.6929|0.0761|0.0557|lean alike<=0.1198|-0.0241|0.0536
apart<=0.1267|names added<=0.5000|concord<=0.0267|0.0182|0.0032|lean flips<=0.7209|-0.0159|0.0294|lean<=0.8607|opposed<=0.5000|-0.0567|0.0169|-0.0820
rule value<=0.5000|lean flips<=0.7202|topic flips<=0.5000|-0.0024|-0.0281|only<=0.0426|0.0291|-0.0753|lean alike<=0.0939|own most<=0.1125|0.0764|0.0389|lean alike<=0.1217|-0.0533|0.0558
only<=0.3288|subject<=0.3723|rare<=0.1667|-0.0105|0.0065|common<=0.6250|0.0228|-0.0298|lean agrees<=0.8112|-0.0714|0.0023
number common<=0.4250|concord<=0.2124|topic agrees<=0.5000|0.0045|-0.0147|concord<=0.2168|0.0819|0.0095|concord<=0.8663|concord<=0.5857|-0.0281|-0.1221|alike<=0.5406|0.0543|0.0577
names added<=0.5000|common<=0.3500|flip alike<=0.0899|0.0025|-0.0510|flip alike<=0.0699|0.0221|-0.0075|lean flips<=0.6251|lean flips<=0.6158|-0.0148|-0.1206|flip held<=0.2071|0.0604|-0.0069
opposed alike<=0.2367|elsewhere<=0.3131|own most<=0.7625|0.0041|-0.0252|own most<=0.4625|-0.0182|-0.0816|topic flips alike<=0.6863|topic alike<=0.2929|0.0540|-0.0413|-0.0771
number loose held<=0.7101|rule modality<=0.5000|number loose<=0.5000|-0.0036|0.0292|concord<=0.0494|0.0537|0.0733|-0.0713
only<=0.1984|topic<=0.5000|lean alike<=0.3299|-0.0052|0.0546|alike<=0.3406|0.0292|-0.0275|only<=0.3485|own most<=0.3250|0.1092|0.0241|no signal<=0.5000|-0.0479|0.0470
contrary<=0.7166|topic flips alike<=0.3828|flip held<=0.5314|-0.0016|0.0395|other value<=0.5000|-0.0603|0.0141|own most<=0.2125|own most<=0.1625|0.0369|-0.0178|flip<=0.5833|0.0636|0.0535
lean flips<=0.7058|role same<=0.5000|elsewhere<=0.3618|0.0042|-0.0397|number loose held<=0.2020|-0.0309|0.0376|concord<=0.8194|signals<=0.1250|0.0675|0.0284|-0.0905
alike<=0.0038|lean agrees<=0.7260|subject<=0.2250|0.0241|-0.0547|topic agrees<=0.5000|0.1018|0.0286|held<=0.1883|another<=0.5000|-0.0341|0.0464|common<=0.1500|0.1229|0.0026
lean alike<=0.0327|must may alike<=0.1404|opposed alike<=0.6863|-0.0026|-0.0676|flip<=0.2917|0.0881|-0.0121|held<=0.2047|number added<=0.5000|0.0669|-0.0202|concord<=0.5635|0.0171|-0.0501
"""

TWIN_FROM = -1.00
TWIN = """
bias: -1.84
adds: -0.17
alike: 0.57
all some: 0.49
another: -0.25
another only: -0.17
apart: -0.10
apart most: -0.34
changes: 0.19
changes alike: -0.05
common: 0.28
concord: 1.00
contrary: -0.55
contrary more: -0.57
denied outright: -0.45
deny both: 1.11
deny one: -0.01
deny one alike: -0.06
elsewhere: -0.22
excepts: -0.38
flip: 0.01
flip alike: -0.10
flip held: -0.04
flip names: -0.37
forbidden allowed: -0.15
held: 1.06
lean: -0.73
lean agrees: 0.44
lean alike: -0.15
lean flips: 0.04
lean more: -0.24
modal: -0.20
must may: 0.13
must may alike: 0.22
names added: -0.41
names differ: -0.65
names shared: 0.55
no signal: -0.20
number: -0.69
number added: -0.11
number agrees: 1.70
number alike: -0.35
number all: -0.23
number common: -0.23
number held: -0.41
number loose: -0.57
number loose held: -0.24
number names: -0.10
number near: -0.51
number other time: -0.03
only: 0.63
only other: -0.24
opposed: 0.25
opposed alike: -0.17
opposed denied: 0.84
opposed held: -0.25
other value: -0.31
own least: -0.76
own most: -1.06
rare: 0.67
role: -0.33
role alike: -0.07
role common: -0.16
role flips: -0.23
role named: 0.02
role same: 0.59
rule modality: -0.39
rule negation: -1.10
rule number: -0.55
rule value: -0.60
same one: -0.36
sibling: -0.16
sibling most: -0.48
signals: -0.52
subject: -1.01
topic: -0.52
topic agrees: 0.03
topic alike: -0.10
topic flips: 0.52
topic flips alike: 0.08
topic held: -0.18
topics: -0.20
"""
