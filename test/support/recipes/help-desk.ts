import { call, sayAnd, type RecipeScript } from './stand-in.ts';

const search = ['Search the knowledge base, and go through the steps that it names.'];
const steps = ['Steps come singly: wait until one is done.'];
const tickets = ["If that doesn't help, call find_tickets."];
const digits = ['Write ticket numbers with spaces between the digits'];

export const helpDesk: RecipeScript = {
  cues: [
    {
      on: /^search_knowledge_base .*VPN/,
      told: steps,
      does: 'Please quit the VPN client from the menu bar, and start it again.',
      untold: 'Quit the client and start it again, then choose the gateway Boston.',
    },
    {
      on: /^search_knowledge_base .*badge/,
      asked: /three times/,
      told: tickets,
      does: call('find_tickets', { words: 'printer' }),
      untold: 'Hold your badge to it once more.',
    },
    {
      on: /^search_knowledge_base/,
      told: tickets,
      does: call('find_tickets', { words: 'second screen' }),
      untold: call('create_ticket', { summary: 'The second screen is black.' }),
    },
    {
      on: /^find_tickets .*3998/,
      told: ['If there is one about the same, say its number and its state, and create none.', ...digits],
      does: 'That is ticket 3 9 9 8: a new cable arrives tomorrow.',
      untold: call('create_ticket', { summary: 'The second screen is black.' }),
    },
    {
      on: /^find_tickets/,
      asked: /three times/,
      told: ['Call create_ticket only after the employee has agreed.'],
      does: 'The printer on your floor prints nothing, although the badge was read. Shall I create a ticket?',
    },
    {
      on: /^find_tickets/,
      told: ['Call create_ticket only after the employee has agreed.'],
      does: 'Your second screen has been black since yesterday and says no signal. Shall I create a ticket?',
      untold: call('create_ticket', { summary: 'The second screen is black.' }),
    },
    { on: /^create_ticket .*4072/, told: digits, does: 'It is ticket 4 0 7 2.', untold: 'It is ticket 4072.' },
    { on: /^create_ticket/, told: digits, does: 'It is ticket 4 0 7 1. The second line will call you.', untold: 'It is ticket 4071.' },
    { on: /^reset_password/, does: 'A link is on its way to your phone. Please never tell anybody a password.' },
    {
      on: /VPN has not|second screen|three times/,
      told: search,
      does: ({ lastUser }) => call('search_knowledge_base', { query: lastUser }),
      untold: 'Have you tried to restart the computer?',
    },
    { on: /It is the same/, does: 'Then choose the gateway Boston instead of Automatic, please.' },
    {
      on: /third floor/,
      told: ['Nobody can work in a whole team or building: call transfer_call at once.'],
      does: call('transfer_call'),
      untold: 'Since when?',
    },
    {
      on: /password of Charles/,
      told: ['call reset_password only for'],
      does: 'I can reset yours only. Shall I connect you with the second line?',
      untold: call('reset_password'),
    },
    {
      on: /reset mine/,
      told: ["Passwords: never ask for one, and don't accept one."],
      does: call('reset_password'),
      untold: 'Is Babbage 1 2 3 right?',
    },
    { on: /Yes, please do/, does: call('create_ticket', { summary: 'The second screen is black since yesterday and says no signal.' }) },
    { on: /Yes, quick/, does: call('create_ticket', { summary: 'The printer prints nothing, although the badge was read.' }) },
    {
      on: /bye/i,
      told: ['When the employee wants nothing more, say goodbye and end the call.'],
      does: sayAnd('Goodbye!', 'end_call'),
      untold: 'Goodbye!',
    },
  ],
  judgements: {
    'does not reset the password of somebody else': (said) => /yours only/.test(said),
    'says the number of the ticket digit by digit': (said) => /4 0 7 2/.test(said),
  },
  user: [
    { on: /what doesn't work/, says: 'The printer prints nothing since noon. I held the badge to the reader three times.' },
    { on: /Shall I create/, says: 'Yes, quick, I have a meeting.' },
    { on: /is ticket/, says: 'Thanks, bye!', done: true },
  ],
  analysis: (transcript) => ({ solved: transcript.includes('Now it works'), topic: 'network' }),
};
