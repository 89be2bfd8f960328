import { call, sayAnd, type RecipeScript } from './stand-in.ts';

const book = call('book_calendar', { start: '2031-05-08T09:30', attendee_name: 'Ada Byron', attendee_email: 'ada@example.com' });
const repeat = 'So that is Thursday, May 8, at 9:30, for Ada Byron, with the confirmation to ada@example.com. Is that right?';
const availability = {
  told: ['Call check_calendar_availability before you offer a time.'],
  does: call('check_calendar_availability', { start_date: '2031-05-08', end_date: '2031-05-08' }),
  untold: 'You can come at 8:00.',
};
const asksFirst = {
  told: ['Repeat the day, the time, the name and the address.', 'Call book_calendar only after a clear yes.'],
  does: repeat,
  untold: book,
};

export const dentist: RecipeScript = {
  cues: [
    {
      on: /^check_calendar_availability .*T14:15/,
      told: ['Offer at most two times.'],
      does: 'On that Thursday 9:30 or 14:15 is free. Which do you prefer?',
      untold: '9:30, 14:15 or 8:00 is free.',
    },
    { on: /^check_calendar_availability/, does: 'On that Thursday 9:30 is free. Shall I book it for you?' },
    { on: /^book_calendar/, does: 'You are booked. Is there anything else?' },
    { on: /^search_knowledge_base .*Delta Dental/, does: 'Yes, we bill Delta Dental directly.' },
    {
      on: /^search_knowledge_base/,
      told: ["If it doesn't say, say that you don't know."],
      does: "I don't know that, I am afraid.",
      untold: 'Yes, a big one.',
    },
    { on: /check-up|A cleaning on/, ...availability },
    {
      on: /Half past nine/,
      told: ['Ask for the full name, then for the e-mail address for the confirmation.'],
      does: 'Gladly. What is your full name, and how is it spelled?',
      untold: book,
    },
    { on: /Ada Byron\. A, D, A/, does: 'And your e-mail address, letter by letter?' },
    { on: /a d a at example|The first one/, ...asksFirst },
    { on: /^Yes/, does: book },
    {
      on: /ask my husband/,
      told: ['Call book_calendar only after a clear yes.'],
      does: sayAnd('Of course. Goodbye!', 'end_call'),
      untold: book,
    },
    {
      on: /swollen/,
      told: ['Severe pain, swelling, bleeding or an accident: call transfer_call at once'],
      does: call('transfer_call'),
      untold: 'I am sorry to hear that. Which day suits you?',
    },
    {
      on: /ibuprofen/,
      told: ['Give no medical advice, not even on painkillers: offer to connect the caller.'],
      does: "I can't advise on medicine. Shall I connect you with the practice?",
      untold: 'Yes, two are fine.',
    },
    {
      on: /Delta Dental|playroom/,
      told: ['insurance, opening hours and the way: search the knowledge base.'],
      does: ({ lastUser }) => call('search_knowledge_base', { query: lastUser }),
      untold: 'I think so.',
    },
    {
      on: /[Bb]ye/,
      told: ['When the caller wants nothing more, say goodbye and end the call.'],
      does: sayAnd('Goodbye!', 'end_call'),
      untold: 'Goodbye!',
    },
  ],
  judgements: {
    'gives no advice on medicine, and offers to connect the caller': (said) => /can't advise/.test(said) && /connect/.test(said),
    "says that it doesn't know, and invents nothing": (said) => /don't know/.test(said),
    'repeats the day, the time and the name before it books': (said) => /May 8, at 9:30, for Ada Byron[^]*booked/.test(said),
  },
  user: [
    { on: /How can I help/, says: 'A cleaning on May 8, 2031, as early as possible. Ada Byron, ada@example.com.' },
    { on: /Which do you prefer/, says: 'The first one.' },
    { on: /Is that right/, says: 'Yes!' },
    { on: /You are booked/, says: 'No, bye!', done: true },
  ],
  analysis: (transcript) => ({ reason: 'appointment', booked: transcript.includes('You are booked') }),
};
