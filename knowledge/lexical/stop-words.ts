/** Function words and the phrases that fill pauses, open or close a call: words of a question that say nothing about its subject. */
import { dimensionOf } from './dimension.ts';
import { primarySubtag } from './stemming.ts';
import { termsOf } from './terms.ts';

/** Words by primary subtag of BCP 47. Only words that carry no meaning of their own in that language. */
const LISTS: Readonly<Record<string, string>> = {
  ar: 'في من على إلى عن مع هذا هذه ذلك تلك الذي التي ما ماذا هل كيف متى أين لماذا كم أن إن كان كانت هو هي أنا نحن و أو ثم لا لم لن قد كل بعد قبل',
  bn:
    'আমি আমার আমাকে আমরা আমাদের আপনি আপনার আপনাকে আপনারা আপনাদের তুমি তোমার তিনি তার তাকে তারা তাদের সে এই এটা এটি সেই সেটা ওই যে যা যারা যার যদি তাহলে তবে ' +
    'কি কী কে কাকে কোন কোনো কোথায় কখন কেন কীভাবে কিভাবে কেমন কত কতটা কতদিন কতগুলো এবং ও আর বা অথবা কিন্তু না নেই নয় হয় হবে হয়ে হতে হলে হয়েছে ছিল আছে ' +
    'করা করে করতে করব করবেন করবো করলে করি করেন করেছে করার যায় যাবে যেতে গেলে পারি পারেন পারবেন পারব পারবো পারে হচ্ছে জন্য থেকে দিয়ে সঙ্গে সাথে মধ্যে উপর পর্যন্ত কাছে পর আগে ' +
    'একটি একটা এক কিছু সব সকল খুব বেশি শুধু তো চাই চান লাগে লাগবে উচিত',
  da:
    'af alle at blev bliver da de dem den denne der deres det dette dig din dine disse dit du efter eller en end er et for fra få får gør ham han hans har havde hende hendes her hos hun hvad hvem ' +
    'hver hvilken hvilket hvis hvor hvordan hvornår hvorfor i ikke ind jeg jer jeres jo kan kunne man med meget men mig min mine mit mod må måtte nede ned noget nogle nogen nok nu når og også om op os ' +
    'over på selv sig sin sine skal skulle som så til ud under var ved vi vil ville vores være været øh øhm hej tak venligst ja nej okay altså',
  de:
    'aber alle als am an auch auf aus bei bin bis da damit dann das dass dein dem den der des die dies diese diesem diesen dieser du durch ein eine einem einen einer eines er es für ' +
    'hat hatte haben habe ich ihr ihre im in ist ja kann kein keine können man mein meine mich mir mit muss nach nicht noch nur ob oder ohne sehr sein seine sich sie sind so über um und ' +
    'uns unter vom von vor wann war waren warum was welche welcher welches wenn wer wie wird wo wurde zu zum zur ' +
    'andere anderen bereits bist darf dich dir dort dürfen etwa etwas euch euer eure gegen gibt hast hatten hätte hätten hier ihm ihn ihnen ihren ihrer immer kannst konnte könnte könnten mag mag meinem ' +
    'meinen meiner mögen möchte möchten müssen muss sei seid seinen seiner sehr soll sollen sollte sollten sowie unser unsere werde werden will wir wollen wollte wollten wäre wären würde würden ' +
    'äh ähm öh hm hmm hallo hi hey tschüss bitte danke also nein na naja okay ok halt mal eben denn doch eigentlich vielleicht irgendwie quasi sozusagen gern gerne genau',
  en:
    'a about above after again against all also am an and any are as at be because been before being below between both but by can could did do does doing down during each few for from ' +
    'further had has have having he her here hers him his how i if in into is it its just me more most my no nor not now of off on once only or other our ours out over own same she ' +
    'should so some such than that the their theirs them then there these they this those through to too under until up very was we were what when where which while who whom why will ' +
    'with would you your yours ' +
    'um uh uhm erm er hmm mm hi hello hey bye please thanks okay ok yeah us',
  es:
    'a al algo ante antes como cómo con cual cuál cuándo cuando cuánto de del desde donde dónde el ella ellos en entre era es esa ese eso esta está este esto fue ha hay la las le les lo ' +
    'los mas me mi mis muy más ni no nos o para pero por porque puede puedo que qué quien quién se ser si sin sobre son su sus también te tengo tiene tu un una uno y ya yo',
  fi:
    'ei eikä en ennen entä että hän hänen he ihan itse ja jo joka jos joita jonka jopa jota joten kai kanssa kautta ketkä kuin kuinka kuka kun kuten kyllä me meidän mihin mikä miksi milloin minun minulla ' +
    'minä missä miten mitä mistä mukaan mutta myös ne niin niitä no nyt näin ole olen olet olette oli olla on onko ovat paljonko pitää saa saako saada se sen sillä siellä sinä sitten sitä tai te teidän ' +
    'teillä tämä tästä vai vaikka voi voiko voin voinko voinut öö hei moi kiitos joo okei',
  fr:
    "à au aux avec ce ces cet cette comme comment combien dans de des donc du elle en est et être eu fait il ils j'ai je la le les leur leurs lui ma mais me mes mon ne nos notre nous on ont " +
    'ou où par pas peut peux plus pour pourquoi qu quand que quel quelle quelles quels qui quoi sa sans se ses si son sont sur ta te tes toi ton tu un une vos votre vous y',
  hi:
    'का के की को में से पर ने है हैं था थी थे हो होता होती होते और या कि जो यह वह ये वे इस उस इन उन मैं हम आप मेरा मेरे मेरी हमारा आपका आपके आपकी क्या कौन कब कहाँ क्यों कैसे कितना कितने कितनी ' +
    'नहीं भी तो ही लिए साथ तक एक कर करना करने करते किया जा सकता सकते सकती चाहिए',
  it:
    'a ad ai al alla alle anche che chi ci come con cosa cui da dal dalla dei del della delle di dove e è ed essere gli ha ho i il in io la le lei lo loro ma mi mio mia nei nel nella no noi ' +
    'non o per perché più può qual quale quali quando quanto quella quello questa questo se si sono su sua sul sulla suo tra tu un una uno voi',
  ja:
    'の に は を が で と も や へ から まで より など ね よ か な だ た て し い う れ さ せ ます です でし まし ませ ん ない なく なり なる なっ ある あり あっ いる い ' +
    'する し できる でき もらえ もらい くれ くださ ください いただけ たい ば この その あの これ それ あれ ここ そこ どこ いつ だれ なに 何 どう どの どれ どんな いくら いくつ ' +
    'こと もの ため よう ところ とき 時 お ご また では には とは について あの えっと すみません もしもし はい いいえ ちょっと',
  nb:
    'alle at av bare ble blir da de deg dem den denne der deres det dette din ditt dine disse du eller en enn er et ett etter for fra få får gjør ha han hans har hadde henne hennes her hos hun hva hvem ' +
    'hver hvilken hvilke hvis hvor hvordan hvorfor i ikke inn jeg jo kan kunne man med meg men mer min mine mitt mot må mye ned noe noen nok nå når og også om opp oss over på seg selv sin sine sitt ' +
    'skal skulle som så til ut under var ved vi vil ville vår være vært øh eh hei takk ja nei okei altså',
  nl:
    'aan al als bij dan dat de deze die dit door een en er had heb hebben heeft het hij hoe hoeveel ik in is je kan kunnen maar me met mijn naar niet nog nu of om ons onze ook op over te tot ' +
    'uit u uw van veel voor waar waarom was wat we welke wanneer wie wij worden wordt ze zich zij zijn zo zou ' +
    'bent deze dus eens er even gaat graag haar hem hen hier hun ik ben jij jou jouw jullie kunt maken mag men mij moet moeten moest moge nou toch u wil willen worden zal zullen zouden ' +
    'eh ehm hallo hoi dag alstublieft alsjeblieft dank bedankt ja nee oké',
  pt:
    'a ao aos as até com como da das de dela dele do dos e é ela ele eles em entre era essa esse esta está este eu foi há isso isto já lhe mais mas me meu minha muito na não nas no nos nós o ' +
    'onde os ou para pela pelo por porque posso pode qual quais quando quanto que quem se sem ser seu sua são também te tem um uma você vocês',
  ru:
    'а без более бы был была были было быть в вам вас весь во вот все всех вы где да для до его ее если есть еще же за здесь и из или им их к как какая какие какой ко когда кто ли мне может ' +
    'можно мой моя мы на надо нас наш не него нет ни но ну о об он она они оно от по под при с сколько со так также такой там то того тоже той только том ты у уже чем что чтобы эта эти это я',
  sv:
    'alla allt att av bara bli blev blir de dem den denna deras dess det detta dig din ditt dina du där efter ej eller en er era ert ett finns från får få för gör göra ha hade han hans har hela henne ' +
    'hennes hon hos hur här i in inom inte jag ju kan kunde man med mellan men mer mig min mina mitt mot mycket må måste ni nog nu någon något några när nära och också om oss på sedan sig sin sina ska ' +
    'skall skulle som så till under upp ut utan vad var vara varför varit varje vart vem vi vid vilka vilken vilket vill ville vår våra åt än är över öh eh hej tack ja nej okej alltså',
  tr:
    'acaba ama ancak bana bazı ben benim bir biz bu böyle çok da daha de değil diye en gibi hangi hem her için ile ise kadar kaç ki kim mı mi mu mü nasıl ne neden nerede nereye niçin niye o ' +
    'olan olarak ona onlar onun sen senin siz sizin şu var ve veya ya yok',
};

/** Languages that use the list of another. */
const LIKE: Readonly<Record<string, string>> = { nn: 'nb', no: 'nb' };
/** Languages whose script keeps their words apart from those of all others here. */
const OWN_SCRIPT: readonly string[] = ['ar', 'bn', 'hi', 'ru'];

const known = new Map<string, ReadonlySet<number>>();

/**
 * Returns dimensions of a language's function words (none where it has no list). Since questions come in other scripts than that of the
 * knowledge base too, these include function words that can't be taken for its words. Without a language that is English.
 */
export function stopDimensions(language: string | undefined): ReadonlySet<number> {
  const tag = primarySubtag(language) || 'en';
  const primary = LIKE[tag] ?? tag;
  let dimensions = known.get(primary);
  if (dimensions === undefined) {
    const others = OWN_SCRIPT.includes(primary) ? [...OWN_SCRIPT, 'en'] : OWN_SCRIPT;
    const words = [primary, ...others].map((name) => (Object.hasOwn(LISTS, name) ? (LISTS[name] ?? '') : '')).join(' ');
    dimensions = new Set(termsOf(words, primary).map(dimensionOf));
    // Made-up tags must not fill the memory.
    if (known.size > 100) known.clear();
    known.set(primary, dimensions);
  }
  return dimensions;
}
