import type { Command } from 'commander';

import { registerBackup } from './backup.ts';
import { registerCall } from './call.ts';
import { registerCalls } from './calls.ts';
import { registerChat } from './chat.ts';
import { registerConfig } from './config.ts';
import { registerDev } from './dev.ts';
import { registerDevRelay, registerDevSpeech } from './dev-parts.ts';
import { registerDoctor } from './doctor.ts';
import { registerEnv } from './env.ts';
import { registerEvents } from './events.ts';
import { registerExplain } from './explain.ts';
import { registerExport } from './export.ts';
import { registerImport } from './import.ts';
import { registerInit } from './init.ts';
import { registerKb } from './kb.ts';
import { registerKeys } from './keys.ts';
import { registerKubectl } from './kubectl.ts';
import { registerMigrate } from './migrate.ts';
import { registerNumbers } from './numbers.ts';
import { registerOrg } from './org.ts';
import { registerRelease } from './release.ts';
import { registerRestore } from './restore.ts';
import { registerRoles } from './roles.ts';
import { registerTest } from './test.ts';
import { registerVersion } from './version.ts';
import { registerWebhooks } from './webhooks.ts';

/** Adds one subcommand to the program; its work is imported when it runs, so that `parley --help` is quick. */
export type Register = (program: Command) => void;

/** Commands in the order of `parley --help`. */
export const commands: readonly Register[] = [
  registerDev,
  registerRoles,
  registerMigrate,
  registerNumbers,
  registerOrg,
  registerKeys,
  registerCall,
  registerCalls,
  registerInit,
  registerTest,
  registerChat,
  registerKb,
  registerEvents,
  registerWebhooks,
  registerExport,
  registerImport,
  registerBackup,
  registerRestore,
  registerEnv,
  registerConfig,
  registerDoctor,
  registerExplain,
  registerRelease,
  registerKubectl,
  registerVersion,
  registerDevSpeech,
  registerDevRelay,
];
