import type { Command } from 'commander';

import { examples } from '../grammar.ts';
import type { RoleOptions } from '../../platform/role.ts';

interface RoleCommand {
  readonly does: string;
  /** Loads the code of one role only. */
  readonly load: () => Promise<(options: RoleOptions) => Promise<void>>;
}

/** Roles in the order of `parley --help`. */
const ROLES: Readonly<Record<string, RoleCommand>> = {
  operator: {
    does: 'reconcile Agents, Tools, PhoneNumbers, KnowledgeBases, WebhookSubscriptions and AgentTests',
    load: async () => (await import('../../operator/main.ts')).runOperator,
  },
  api: {
    does: 'serve the REST API',
    load: async () => {
      const [{ runApi }, parts] = await Promise.all([import('../../api/main.ts'), import('../kubectl/explain/over-rest.ts')]);
      return (options) => runApi(options, parts);
    },
  },
  worker: {
    does: 'run the Temporal workflows: document ingestion, webhook retries, call analysis, housekeeping',
    load: async () => {
      const { runWorker, yieldToOthers } = await import('../../workflows/main.ts');
      yieldToOthers();
      return runWorker;
    },
  },
  dispatcher: {
    does: 'relay events and make the first attempt at each webhook delivery',
    load: async () => (await import('../../webhooks/dispatcher/main.ts')).runDispatcher,
  },
  voice: { does: 'serve calls as a LiveKit agent server', load: async () => (await import('../../voice/main.ts')).runVoice },
};

export function registerRoles(program: Command): void {
  for (const [role, { does, load }] of Object.entries(ROLES)) {
    program
      .command(role)
      .description(`${does}; configured by environment variables, see \`parley config\``)
      .addHelpText('after', examples(`parley ${role}`))
      .action(async () => {
        const [{ runRoleProcess }, run] = await Promise.all([import('../role-process.ts'), load()]);
        await runRoleProcess(role, run);
      });
  }
}
