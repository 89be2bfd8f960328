/** The system prompt, the welcome message, the message to voicemail and the silence reminders. */
import { fillTemplate, type DynamicData } from '../../crds/template.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { millisecondsOf } from '../../crds/duration.ts';
import { silenceReminderIn } from './fixed-phrases.ts';
import type { ConversationSettings } from './state.ts';

export interface PromptOptions {
  readonly config: Pick<AgentRevisionConfig, 'agent' | 'systemPrompt'>;
  readonly data: DynamicData;
  /** Explanations of the values, as the lookups give them. */
  readonly contexts: readonly string[];
  /** The beginning of the call, in milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Joins the agent's own prompt, the meaning of its data, the time, and the language: in this order, so that the last word is on the
 * language.
 */
export function instructionsOf({ config, data, contexts, now }: PromptOptions): string {
  const prompt = fillTemplate(config.systemPrompt ?? '', data).trim();
  const parts = [prompt, contexts.join('\n'), timeLine(now, config.agent.timeZone), languageLine(config.agent.language)];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Returns the welcome message; undefined where the agent waits for the user. */
export function welcomeOf({ agent }: Pick<AgentRevisionConfig, 'agent'>, data: DynamicData): string | undefined {
  const text = fillTemplate(agent.welcomeMessage ?? '', data).trim();
  return text === '' ? undefined : text;
}

/** Returns the message to voicemail; undefined where the agent leaves none. */
export function voicemailMessageOf({ agent }: Pick<AgentRevisionConfig, 'agent'>, data: DynamicData): string | undefined {
  return fillTemplate(agent.call.voicemailDetection.message ?? '', data).trim() || undefined;
}

/** Returns the rules for silence: when it ends the call, and what the agent says into it. */
export function silenceOf({ agent }: Pick<AgentRevisionConfig, 'agent'>, data: DynamicData): NonNullable<ConversationSettings['silence']> {
  const { endAfterSilence, silenceReminder } = agent.call;
  const endAfterMs = millisecondsOf(endAfterSilence);
  const { mode, message, reminders } = silenceReminder;
  if (mode === 'Never') return { endAfterMs, reminders: [] };
  const filled = (text = ''): string => fillTemplate(text, data).trim();
  const said = filled(message) || silenceReminderIn(agent.language);
  if (reminders === undefined) return { endAfterMs, reminders: [{ afterMs: endAfterMs / 2, text: said }] };
  const wanted = reminders.map((reminder) => ({ afterMs: millisecondsOf(reminder.after), text: filled(reminder.message) || said }));
  return { endAfterMs, reminders: wanted.filter(({ afterMs }) => afterMs < endAfterMs).toSorted((a, b) => a.afterMs - b.afterMs) };
}

/** Tells the time: models know neither the day nor the hour, and callers say "tomorrow". */
function timeLine(now: number, timeZone = 'UTC'): string {
  const time = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone }).format(now);
  return `The call began on ${time} (${timeZone}).`;
}

function languageLine(language: string): string {
  return `Speak ${languageName(language)} (${language}). What you say is spoken aloud: use plain sentences, without lists or markup.`;
}

function languageName(language: string): string {
  try {
    return new Intl.DisplayNames(['en'], { type: 'language' }).of(language) ?? language;
  } catch {
    // An agent may have any well-formed tag; this one says nothing to ICU.
    return language;
  }
}
