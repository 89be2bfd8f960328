/** Writes numbers in words. */
import { toCardinal as arabic } from 'n2words/ar-SA';
import { toCardinal as bangla } from 'n2words/bn-BD';
import { toCardinal as danish } from 'n2words/da-DK';
import { toCardinal as german } from 'n2words/de-DE';
import { toCardinal as english } from 'n2words/en-US';
import { toCardinal as spanish } from 'n2words/es-ES';
import { toCardinal as finnish } from 'n2words/fi-FI';
import { toCardinal as french } from 'n2words/fr-FR';
import { toCardinal as hindi } from 'n2words/hi-IN';
import { toCardinal as italian } from 'n2words/it-IT';
import { toCardinal as norwegian } from 'n2words/nb-NO';
import { toCardinal as dutch } from 'n2words/nl-NL';
import { toCardinal as portuguese } from 'n2words/pt-PT';
import { toCardinal as russian } from 'n2words/ru-RU';
import { toCardinal as swedish } from 'n2words/sv-SE';
import { toCardinal as turkish } from 'n2words/tr-TR';

/** Writers of cardinal numbers by primary subtag of BCP 47. */
export const CARDINALS: Readonly<Record<string, (value: number) => string>> = {
  ar: arabic,
  bn: bangla,
  da: danish,
  de: german,
  en: english,
  es: spanish,
  fi: finnish,
  fr: french,
  hi: hindi,
  it: italian,
  nb: norwegian,
  nl: dutch,
  nn: norwegian,
  no: norwegian,
  pt: portuguese,
  ru: russian,
  sv: swedish,
  tr: turkish,
};
