/**
 * Finds the phrases that people say around a question: "hello, I just wanted to ask …, thank you". Their words are rare in documents and
 * would outweigh those of the question. These are phrases and not words: "Can a mask help?" asks for help.
 */
import { primarySubtag } from './stemming.ts';

/** Patterns of phrases in lower case, by primary subtag of BCP 47. `*` after a group of small words lets any of them come in between. */
const PHRASES: Readonly<Record<string, readonly string[]>> = {
  da: [
    'god(?:morgen|dag|aften)',
    'jeg (?:vil(?:le)?|skal(?:le)?|kunne)(?: (?:bare|lige|gerne|godt|høre|også))* (?:spørge|vide|høre)(?: om)?',
    'jeg har (?:et|lige et) spørgsmål',
    '(?:kan|kunne) (?:du|i)(?: (?:måske|lige))* (?:sige|fortælle|hjælpe)(?: mig)?(?: med)?',
    '(?:mange )?tak(?: for hjælpen)?',
  ],
  de: [
    '(?:einen )?(?:sch(?:ö|oe)nen )?guten (?:tag|morgen|abend)',
    'gr(?:ü|ue)(?:ß|ss) (?:gott|dich|sie|euch)',
    'mein name ist \\p{L}+',
    "ich (?:bin['’ ]?s|bin es|rufe? an|melde mich)(?: (?:nochmal|noch mal|wieder|weil|wegen|da))*",
    '(?:ich )?(?:wollte|will|m(?:ö|oe)chte|muss|m(?:ü|ue)sste|w(?:ü|ue)rde|h(?:ä|ae)tte|habe?)(?: (?:ich|da|mal|nur|gern|gerne|kurz|noch|eben|sie|eigentlich|einfach|nochmal|eine|so))* (?:fragen|wissen|nachfragen|erfahren|frage|anliegen)',
    '(?:ich )?(?:w(?:ü|ue)sste|wei(?:ß|ss))(?: (?:ich|da|mal|nur|gern|gerne|nicht|jetzt|es))*',
    'ob sie mir (?:(?:da|dabei|vielleicht) )*(?:weiter)?(?:helfen|sagen) k(?:ö|oe)nn(?:t?)en',
    '(?:k(?:ö|oe)nnen|k(?:ö|oe)nnten|w(?:ü|ue)rden)(?: (?:sie|mir|uns|vielleicht|bitte|mal|da|kurz))+ (?:sagen|helfen|weiterhelfen|erkl(?:ä|ae)ren|verraten)',
    'k(?:annst|(?:ö|oe)nntest) du mir(?: (?:vielleicht|bitte|mal|da|kurz))* (?:sagen|helfen|erkl(?:ä|ae)ren)',
    'mich w(?:ü|ue)rde(?: (?:mal|noch|auch))* interessieren',
    '(?:meine|eine|die|ne)(?: (?:kurze|kleine|andere))? frage(?: (?:ist|w(?:ä|ae)re|dazu|noch))*',
    'sagen sie mal',
    'wissen sie(?: (?:das|vielleicht|zuf(?:ä|ae)llig))*',
    '(?:ein|eine|mein|meine) (?:freund|freundin|bekannter|bekannte|kollege|kollegin|nachbar|nachbarin|mann|frau) (?:hat (?:mir )?(?:gesagt|erz(?:ä|ae)hlt)|sagte|meinte|meint|sagt)(?: mir)?(?: dass)?',
    'wenn sie mir das (?:sagen|erkl(?:ä|ae)ren) k(?:ö|oe)nn(?:t?)en',
    '(?:vielen|besten|herzlichen|tausend) dank(?: im voraus)?',
    'danke (?:sch(?:ö|oe)n|sehr|im voraus|ihnen|vielmals)',
    'das w(?:ä|ae)re (?:super|toll|nett|lieb|prima)',
    'oder so(?: was)?',
  ],
  en: [
    'good (?:morning|afternoon|evening|day)',
    '(?:hi|hello|hey) there',
    'my name is \\p{L}+',
    'how are you(?: doing)?(?: today)?',
    "i(?:'m| am)?(?: just)? call(?:ing|ed)(?: (?:because|about|to))?",
    "i(?:'d|'ve)?(?: (?:was|am|just|would|really|only|have|kind of))* (?:wondering|wanted to|want to|like to|need to)(?: (?:just|quickly|ask|know|find out|check))*(?: (?:you|about|if|whether))?",
    "(?:i(?:'ve| have)?(?: got)?|have|got|just)(?: (?:just|also|another))* (?:a|one|another)(?: (?:quick|short|little|small))? question(?: (?:about|for you))?",
    '(?:my|the|one) question is',
    '(?:can|could|would|will) you(?: (?:maybe|please|possibly|perhaps))* (?:help|tell|explain to)(?: (?:me|us|out|with this|with something))*',
    'do you (?:happen to )?know',
    '(?:my|a) (?:friend|neighbou?r|colleague|wife|husband|mother|mom|mum|father|dad|brother|sister|boss)(?: of mine)? (?:just )?(?:told me|said|says|mentioned)(?: that)?',
    '(?:does|if) that makes? (?:any )?sense',
    'is that (?:right|correct|true)',
    "if you don't mind(?: me asking)?",
    'you know',
    'i mean',
    'thank(?:s| you)(?: (?:so|very|much|a lot|a bunch|in advance))*',
    'excuse me',
    "i(?:'m| am) not sure(?: (?:if|but))*",
    'or something(?: like that)?',
  ],
  es: [
    'buen(?:os|as) (?:días|dias|tardes|noches)',
    '(?:quería|queria|quisiera|me gustaría|me gustaria|quiero) (?:preguntar|saber|preguntarle|consultar)(?:le|les)?',
    '(?:tengo|tenía|tenia) una (?:pregunta|duda|consulta)',
    '(?:me )?(?:puede|puedes|podría|podria|podrías|podrias)(?: (?:usted|por favor))* (?:decirme|ayudarme|decir|ayudar|explicarme)',
    '(?:muchas )?gracias',
    'por favor',
  ],
  fi: [
    'hyvää (?:huomenta|päivää|iltaa)',
    '(?:minulla|mulla) (?:on|olisi)(?: yksi)? kysymys',
    'haluaisin (?:kysyä|tietää)',
    '(?:voitko|voisitko|voitteko|voisitteko) (?:kertoa|auttaa|sanoa)',
    'kiitos(?: paljon)?',
  ],
  fr: [
    '(?:je )?(?:voulais|voudrais|aimerais|souhaiterais)(?: (?:juste|bien|vous))* (?:savoir|demander|poser une question)',
    "j'(?:ai|aurais|aimerais)(?: (?:juste|bien))* (?:une question|savoir|demander)",
    '(?:pouvez|pourriez)(?: |-)vous me (?:dire|aider|renseigner|expliquer)',
    'est-ce que vous (?:pouvez|pourriez) me (?:dire|aider|renseigner)',
    "s'il vous pla(?:î|i)t",
    "merci (?:beaucoup|bien|d'avance)",
  ],
  it: [
    'buon(?:giorno|asera| giorno|a sera)',
    '(?:volevo|vorrei|mi piacerebbe)(?: (?:solo|un attimo))* (?:chiedere|sapere|chiederle)',
    '(?:ho|avrei) una domanda',
    '(?:può|puo|potrebbe|puoi|potresti)(?: per favore)? (?:dirmi|aiutarmi|spiegarmi)',
    'per (?:favore|piacere|cortesia)',
    'grazie (?:mille|tante)',
  ],
  nb: [
    'god (?:morgen|dag|kveld)',
    'jeg (?:vil(?:le)?|skal(?:le)?|lurer|lurte)(?: (?:bare|gjerne|på))* (?:spørre|vite|høre|om)',
    'jeg har et spørsmål',
    '(?:kan|kunne) (?:du|dere)(?: (?:kanskje|bare))* (?:si|fortelle|hjelpe)(?: meg)?(?: med)?',
    '(?:tusen|mange) takk',
  ],
  nl: [
    'goede(?: ?)(?:morgen|middag|avond|dag)',
    '(?:ik )?(?:wilde|wil|wou|zou)(?: (?:ik|u|graag|even|eens|alleen|maar|iets|willen))* (?:vragen|weten)',
    '(?:ik )?(?:heb|had)(?: (?:ik|nog|even|een|een korte))* vraag(?:je)?',
    '(?:kunt|kun|kan|zou|zoudt)(?: (?:u|je|mij|me|misschien|even|alstublieft))+ (?:vertellen|zeggen|helpen|uitleggen)',
    'ik vroeg (?:me|mij) af(?: of)?',
    'mijn naam is \\p{L}+',
    '(?:dank u|dank je|bedankt)(?: (?:wel|alvast))?',
  ],
  pt: [
    '(?:bom dia|boa tarde|boa noite)',
    '(?:queria|gostaria de|quero)(?: só)? (?:saber|perguntar)',
    'tenho uma (?:pergunta|dúvida|duvida)',
    '(?:pode|poderia|podia) me (?:dizer|ajudar|explicar)',
    'por favor',
    'muito obrigad[oa]',
  ],
  sv: [
    'god (?:morgon|dag|kväll|middag)',
    'jag (?:ville|vill|skulle|undrar|undrade|tänkte)(?: (?:vilja|bara|gärna|lite))* (?:fråga|veta|höra|om)',
    'jag (?:undrar|undrade)(?: om)?',
    'jag har en fråga',
    '(?:kan|kunde|skulle)(?: (?:du|ni|kunna|möjligen|kanske))+ (?:säga|berätta|hjälpa)(?: mig)?(?: med)?',
    '(?:tack så mycket|tusen tack)',
  ],
};
const LIKE: Readonly<Record<string, string>> = { nn: 'nb', no: 'nb' };

const patterns = new Map(
  Object.entries(PHRASES).map(([language, phrases]) => [
    language,
    new RegExp(`(?<![\\p{L}\\p{N}])(?:${phrases.join('|')})(?![\\p{L}\\p{N}])`, 'giu'),
  ]),
);

export interface Framed {
  readonly asked: string;
  readonly frame: string;
}

/** Parts a question from the phrases around it, both with their words in order. @param language BCP 47; English by default */
export function splitFrame(text: string, language?: string): Framed {
  const primary = primarySubtag(language) || 'en';
  const pattern = patterns.get(LIKE[primary] ?? primary);
  if (pattern === undefined) return { asked: text, frame: '' };
  const frame: string[] = [];
  const asked = text.replaceAll(pattern, (phrase) => {
    frame.push(phrase);
    // Words that were apart stay apart.
    return ' … ';
  });
  return { asked, frame: frame.join(' … ') };
}
