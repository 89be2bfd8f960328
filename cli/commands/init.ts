import { resolve } from 'node:path';

import { InvalidArgumentError, Option, type Command } from 'commander';

import { similarName } from '../../platform/similar-name.ts';
import { UserError } from '../../platform/user-error.ts';
import { formatOf, outputOption, writeAs, type OutputFlags } from '../output.ts';
import { isTemplateName, templateNames, templates, type TemplateName } from '../init/templates.ts';

interface InitFlags extends OutputFlags {
  readonly template?: TemplateName;
  readonly name?: string;
}

const longest = Math.max(...templateNames.map((name) => name.length));

const HELP = `
Templates:
${templateNames.map((name) => `  ${name.padEnd(longest)}  ${templates[name].shows}`).join('\n')}

Each is an agent with its tools, documents, tests, recorded answers and a CI file. Files that are there already are never replaced.

Examples:
  parley init --template dentist
  parley init --template dentist front-desk --name front-desk
`;

export function registerInit(program: Command): void {
  program
    .command('init')
    .description('write an agent with tools and tests into a folder, to begin with')
    .argument('[folder]', 'where the files go; default: a new folder with the name of the agent')
    .addOption(new Option('--template <name>', 'the agent to begin with').choices(templateNames).argParser(templateName))
    .option('--name <name>', 'name of the agent; default: that of the template', agentName)
    .addOption(outputOption('template, agent, folder and files'))
    .addHelpText('after', HELP)
    .action(async (given: string | undefined, { template, name: wantedName, ...flags }: InitFlags) => {
      if (template === undefined) {
        throw new UserError(`choose a template: ${templateNames.join(', ')}`, {
          cure: `parley init --template ${templateNames[0]}`,
          exitCode: 2,
        });
      }
      const name = wantedName ?? template;
      const folder = given ?? name;
      const { writeRecipe } = await import('../init/write-recipe.ts');
      const files = await writeRecipe({ template, folder, name });
      await writeAs({ out: process.stdout }, formatOf(flags), { template, agent: name, folder, files }, () =>
        [
          `${files.length} files are in ${folder}`,
          '',
          ...(resolve(folder) === process.cwd() ? [] : [`  cd ${folder}`]),
          '  parley test . --replay            # recorded answers: no key, no network',
          '  export OPENAI_API_KEY=sk-…',
          `  parley chat ${name} . -t ${templates[template].firstTest}`,
          '',
          'README.md says how to apply the agent, and how to change it.',
          '',
        ].join('\n'),
      );
    });
}

function templateName(text: string): TemplateName {
  if (isTemplateName(text)) return text;
  const similar = similarName(text, templateNames);
  const advice = similar === undefined ? 'there is no such template.' : `did you mean ${similar}?`;
  throw new InvalidArgumentError(`${advice} The templates are ${templateNames.join(', ')}.`);
}

function agentName(text: string): string {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) return text;
  throw new InvalidArgumentError('use 1 to 63 lower-case letters, digits and hyphens, as for a Kubernetes name.');
}
