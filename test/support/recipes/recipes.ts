/** The recipes of `examples/recipes`, each with a script that plays its models. */
import { join } from 'node:path';

import { repository } from '../stack.ts';
import { bank } from './bank.ts';
import { banglaShop } from './bangla-shop.ts';
import { dentist } from './dentist.ts';
import { frontDesk } from './front-desk.ts';
import { helpDesk } from './help-desk.ts';
import { restaurant } from './restaurant.ts';
import type { RecipeScript } from './stand-in.ts';
import { survey } from './survey.ts';

/** Keys are the names of the folders, which are those of the agents. */
export const recipes: Readonly<Record<string, RecipeScript>> = {
  dentist,
  restaurant,
  bank,
  survey,
  'help-desk': helpDesk,
  'bangla-shop': banglaShop,
  'front-desk': frontDesk,
};

export const recipeFolder = (name: string): string => join(repository, 'examples/recipes', name);

/** Address of the MCP server in the files of `help-desk`. */
export const HELP_DESK_URL = 'https://mcp.example.com/help-desk';
