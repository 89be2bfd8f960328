/** Names the recipes that `parley init` writes. Their files are in `examples/recipes`; a build has them next to its code. */
import { locateAsset } from '../../platform/assets.ts';
import { UserError } from '../../platform/user-error.ts';

interface Template {
  /** Says what the agent does. */
  readonly shows: string;
  /** Test whose mocks answer tools in the first conversation with the agent. */
  readonly firstTest: string;
}

/** Keys are names of folders and of the agents in them. */
export const templates = {
  dentist: { shows: 'books appointments in a calendar, connects emergencies', firstTest: 'books-an-appointment' },
  restaurant: { shows: 'takes reservations, knows opening hours and allergens', firstTest: 'books-a-table' },
  bank: { shows: 'verifies callers before it says anything, blocks cards, transfers', firstTest: 'balance-after-verification' },
  survey: { shows: 'calls customers with three questions, and stops politely', firstTest: 'three-answers' },
  'help-desk': { shows: 'solves IT troubles, with the tickets of an MCP server', firstTest: 'creates-a-ticket' },
  'bangla-shop': { shows: 'speaks Bangla: orders, delivery and refunds of a shop', firstTest: 'bangla-order-status' },
  'front-desk': { shows: 'hands callers over to agents for appointments and bills', firstTest: 'appointment-by-a-colleague' },
} as const satisfies Readonly<Record<string, Template>>;

export type TemplateName = keyof typeof templates;

export const templateNames = Object.keys(templates) as readonly TemplateName[];

export const isTemplateName = (name: string): name is TemplateName => Object.hasOwn(templates, name);

/** @throws UserError for a broken build */
export function recipesFolder(): string {
  const folder = locateAsset(import.meta.url, 'recipes') ?? locateAsset(import.meta.url, '../../examples/recipes');
  if (folder === undefined) throw new UserError('the folder recipes/ is missing from this build of parley', { cure: 'install it again' });
  return folder;
}
