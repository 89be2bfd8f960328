/** Phrases that need no model: the apology when a call can't go on, and the reminder in a silence. */

const APOLOGIES: Readonly<Record<string, string>> = {
  en: 'I am sorry, something is not working on our side. Please call again later. Goodbye.',
  de: 'Es tut mir leid, bei uns funktioniert gerade etwas nicht. Bitte rufen Sie später noch einmal an. Auf Wiederhören.',
  fr: 'Je suis désolé, nous avons un problème technique. Veuillez rappeler plus tard. Au revoir.',
  es: 'Lo siento, tenemos un problema técnico. Por favor, llame más tarde. Adiós.',
  it: 'Mi dispiace, abbiamo un problema tecnico. La preghiamo di richiamare più tardi. Arrivederci.',
  pt: 'Lamento, temos um problema técnico. Por favor, ligue mais tarde. Adeus.',
  nl: 'Het spijt me, er werkt iets niet bij ons. Belt u later alstublieft nog eens. Tot ziens.',
  pl: 'Przepraszam, mamy problem techniczny. Proszę zadzwonić później. Do widzenia.',
  sv: 'Jag beklagar, något fungerar inte hos oss. Ring gärna igen senare. Hej då.',
  da: 'Jeg beklager, der er noget, der ikke virker hos os. Ring venligst igen senere. Farvel.',
  bn: 'দুঃখিত, আমাদের এখানে একটু সমস্যা হচ্ছে। অনুগ্রহ করে পরে আবার কল করুন। ধন্যবাদ।',
};

const SILENCE_REMINDERS: Readonly<Record<string, string>> = {
  en: 'Are you still there?',
  de: 'Sind Sie noch da?',
  fr: 'Êtes-vous toujours là ?',
  es: '¿Sigue usted ahí?',
  it: 'È ancora in linea?',
  pt: 'Ainda está aí?',
  nl: 'Bent u er nog?',
  pl: 'Czy nadal mnie słychać?',
  sv: 'Är du kvar?',
  da: 'Er du der stadig?',
  bn: 'আপনি কি লাইনে আছেন?',
};

/** Returns the apology in a language. @param language BCP 47; English for languages without a phrase */
export const apologyIn = (language: string): string => phraseIn(APOLOGIES, language);

/** Returns the reminder in a language. @param language BCP 47; English for languages without a phrase */
export const silenceReminderIn = (language: string): string => phraseIn(SILENCE_REMINDERS, language);

function phraseIn(phrases: Readonly<Record<string, string>>, language: string): string {
  return phrases[language.toLowerCase().split('-')[0] ?? ''] ?? phrases['en']!;
}
