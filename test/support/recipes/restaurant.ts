import { call, sayAnd, type RecipeScript } from './stand-in.ts';

const find = (people: number, time: string) => ({
  told: ['Call find_tables before you say that something is free.'],
  does: call('find_tables', { date: '2031-05-09', time, people }),
  untold: 'There is a table at eight. On which name?',
});
const book = (name: string, people: number, time: string) => call('book_table', { date: '2031-05-09', time, people, name });
const beforeBooking = ['Repeat the day, the time, the people and the name.', 'Call book_table only after a clear yes.'];

export const restaurant: RecipeScript = {
  cues: [
    { on: /^find_tables .*\[\]/, does: 'I am sorry, nothing is free then. Would another day or another time suit you?' },
    {
      on: /^find_tables/,
      asked: /we are five/,
      told: beforeBooking,
      does: 'Five people on May 9 at 20:30, for Hopper. Is that right?',
      untold: book('Hopper', 3, '20:30'),
    },
    {
      on: /^find_tables/,
      asked: /for three/,
      told: ['Offer at most two times.'],
      does: '19:00 or 20:30 is free. On which name may I book?',
    },
    {
      on: /^find_tables/,
      told: ['Ask for a name.'],
      does: 'Half past seven is free. On which name may I book it?',
      untold: book('Guest', 4, '19:30'),
    },
    { on: /^book_table/, does: 'Your table is booked. Is there anything else?' },
    {
      on: /^search_knowledge_base/,
      asked: /gnocchi/,
      told: ['name those that the knowledge base lists for the dish, and nothing else.', 'Never say that a dish is safe.'],
      does: 'The gnocchi with pesto have wheat, milk and cashew nuts.',
      untold: 'The gnocchi are safe for you.',
    },
    {
      on: /^search_knowledge_base/,
      asked: /panna cotta/,
      told: ["If it doesn't list the dish, say that the kitchen has to be asked."],
      does: 'The panna cotta is not in my list: the kitchen has to be asked.',
      untold: 'It has milk, and no nuts.',
    },
    { on: /^search_knowledge_base/, does: 'On Mondays we are closed.' },
    { on: /A table for four/, ...find(4, '19:30') },
    { on: /table for two/, ...find(2, '20:00') },
    { on: /for three/, ...find(3, '20:00') },
    { on: /we are five/, ...find(5, '20:30') },
    {
      on: /Lovelace/,
      told: beforeBooking,
      does: 'A table for four on Friday, May 9, at 19:30, for Lovelace. Is that right?',
      untold: book('Lovelace', 4, '19:30'),
    },
    { on: /Yes, please/, does: book('Lovelace', 4, '19:30') },
    { on: /Yes, half past eight/, does: book('Hopper', 5, '20:30') },
    {
      on: /twelve/,
      told: ['More than eight people, complaints and lost property: call transfer_call.'],
      does: call('transfer_call'),
      untold: 'Gladly. At which time?',
    },
    {
      on: /gnocchi|panna cotta|Mondays/,
      told: ['Opening hours, dishes and prices: search the knowledge base.'],
      does: ({ lastUser }) => call('search_knowledge_base', { query: lastUser }),
      untold: 'Yes, certainly.',
    },
    {
      on: /[Bb]ye/,
      told: ['When the caller wants nothing more, say goodbye and end the call.'],
      does: sayAnd('Goodbye!', 'end_call'),
      untold: 'Goodbye!',
    },
  ],
  judgements: {
    'says that nothing is free then, and asks for another day or time without naming one as free': (said) =>
      /nothing is free/.test(said) && /another day/.test(said),
    'says that the kitchen has to be asked about the panna cotta, and names no allergens of it': (said) =>
      /kitchen has to be asked/.test(said),
  },
  user: [
    { on: /Would you like to book/, says: 'A table on May 9, 2031, around eight, for three, please.' },
    { on: /On which name/, says: 'Hopper. Oh, and we are five, not three.' },
    { on: /Is that right/, says: 'Yes, half past eight.' },
    { on: /is booked/, says: 'No, thank you. Bye!', done: true },
  ],
  analysis: (transcript) => ({ booked: transcript.includes('is booked'), people: 4 }),
};
