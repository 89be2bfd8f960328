/** The providers of language models and speech: where they are, and what they charge. */
import { jsonList } from './fields.ts';
import { problemOfPrices, providerPrice } from './prices.ts';
import { providerDefaults } from './profiles.ts';

export const providerFields = {
  PARLEY_PROVIDERS: jsonList(providerDefaults, '[]').describe(
    'Credentials and addresses of the providers of language models and speech, for agents that bring none of their own, a JSON array.',
  ),
  PARLEY_PRICES: jsonList(providerPrice, '[]', problemOfPrices).describe(
    'What providers charge, for the cost of calls, a JSON array; calls have no cost where it is empty. For voice, worker and operator.',
  ),
} as const;
