/** Checks fields of an Agent, and of its tools, that are consistent only together: some have no effect, others may lack a value. */
import { similarName } from '../platform/similar-name.ts';
import { argumentNamesIn } from './address.ts';
import { DEFAULT_TEMPERATURE } from './agent-speech.ts';
import type { AgentSpec } from './agent.ts';
import { millisecondsOf } from './duration.ts';
import { isBodyless } from './http-method.ts';
import { keywordRemarks } from './keywords.ts';
import { pronunciationRemarks } from './pronunciation.ts';
import type { SpecProblem } from './spec-problem.ts';
import { temperatureProviders } from './providers.ts';
import { callerNames, namesIn, stringsIn, type Templates } from './template.ts';
import type { ToolSpec } from './tool.ts';
import { speedRemarks } from './voice-speed.ts';
import { dataNamesOf } from './tool-consistency.ts';

/** The fields that decide which data all calls of an agent have. */
export type DataSupply = Pick<AgentSpec, 'dynamicData' | 'requiredDynamicData'>;

/**
 * Returns remarks on fields of an agent that have no effect, or work only for some calls.
 *
 * @param prompt text that `systemPromptFrom` names, where it is known
 */
export function agentRemarks(spec: AgentSpec, prompt?: string): readonly SpecProblem[] {
  return [
    ...ineffective(spec),
    ...keywordRemarks(spec),
    ...speedRemarks(spec.textToSpeech),
    ...pronunciationRemarks(spec),
    ...lookupRemarks(spec),
    ...unsuppliedIn(templatesOf(spec, prompt), suppliedNames(spec)),
  ];
}

function templatesOf({ llm, speechToText, welcomeMessage, call, dynamicData = [] }: AgentSpec, prompt: string | undefined): Templates {
  return [
    ...stringsIn(llm.systemPrompt, 'spec.llm.systemPrompt'),
    ...(llm.systemPromptFrom === undefined ? [] : stringsIn(prompt, 'spec.llm.systemPromptFrom')),
    ...stringsIn(speechToText.keywords, 'spec.speechToText.keywords'),
    ...stringsIn(welcomeMessage, 'spec.welcomeMessage'),
    ...stringsIn(call.silenceReminder, 'spec.call.silenceReminder'),
    ...stringsIn(call.voicemailDetection.message, 'spec.call.voicemailDetection.message'),
    ...dynamicData.flatMap(({ response = [] }, index) =>
      response.flatMap(({ context }, item) => stringsIn(context, `spec.dynamicData[${index}].response[${item}].context`)),
    ),
  ];
}

/** Returns remarks on data of a call that a tool wants, and its agent doesn't supply. */
export function toolDataRemarks(tool: ToolSpec, agent: DataSupply): readonly SpecProblem[] {
  const supplied = suppliedNames(agent);
  const taken = Object.entries(tool.custom?.http.runtimeParams ?? {}).filter(
    ([name, { value }]) => value === undefined && !isSupplied(name, supplied),
  );
  return [
    ...dataNamesOf(tool).flatMap(({ path, name }) => unsupplied(path, name, supplied, TOOL_CURE)),
    ...taken.map(([name, { required }]) => {
      const effect = required === true ? 'nothing is requested' : 'it is left out';
      const message = `is taken from the data of the call, and ${effect} where the call doesn't bring ${JSON.stringify(name)}: ${TOOL_CURE}`;
      return { path: `spec.custom.http.runtimeParams.${name}`, message };
    }),
  ];
}

const CURE = 'list it in requiredDynamicData, or look it up in dynamicData';
const TOOL_CURE = 'have the agent require it of calls, or look it up';
const LOOKUP_CURE = 'list it in requiredDynamicData; lookups run side by side, and none has what another one finds';

function suppliedNames({ requiredDynamicData = [], dynamicData = [] }: DataSupply): readonly string[] {
  return [...callerNames, ...requiredDynamicData, ...namesFound(dynamicData)];
}

function namesFound(lookups: NonNullable<AgentSpec['dynamicData']>): readonly string[] {
  return lookups.flatMap(({ response = [] }) => response.map(({ name }) => name));
}

/** A path is supplied if its beginning is: the inside of a datum isn't known. */
function isSupplied(name: string, supplied: readonly string[]): boolean {
  return supplied.some((one) => name === one || name.startsWith(`${one}.`));
}

function unsuppliedIn(texts: Templates, supplied: readonly string[], cure = CURE): readonly SpecProblem[] {
  return texts.flatMap(([path, text]) => namesIn(text).flatMap((name) => unsupplied(path, name, supplied, cure)));
}

function unsupplied(path: string, name: string, supplied: readonly string[], cure: string): readonly SpecProblem[] {
  if (isSupplied(name, supplied)) return [];
  const similar = similarName(name, supplied);
  const advice = similar === undefined ? cure : `did you mean "{{${similar}}}"?`;
  return [{ path, message: `holds "{{${name}}}", which is empty unless the call brings it: ${advice}` }];
}

/** Lookups have the data that the call brings, and nothing else. Single braces are text there. */
function lookupRemarks({ requiredDynamicData = [], dynamicData = [] }: AgentSpec): readonly SpecProblem[] {
  const found = namesFound(dynamicData);
  const brought = [...callerNames, ...requiredDynamicData].filter((name) => !found.includes(name));
  return dynamicData.flatMap(({ url, headers = [], query, body, method = 'GET', response = [] }, index) => {
    const path = `spec.dynamicData[${index}]`;
    const sendsBody = !isBodyless(method);
    const texts: Templates = [
      ...stringsIn(url, `${path}.url`),
      ...headers.flatMap(({ value }, at) => stringsIn(value, `${path}.headers[${at}].value`)),
      ...stringsIn(query, `${path}.query`),
      ...(sendsBody ? stringsIn(body, `${path}.body`) : []),
    ];
    return [
      ...unsuppliedIn(texts, brought, LOOKUP_CURE),
      ...argumentNamesIn(url).map((name) => ({
        path: `${path}.url`,
        message: `holds "{${name}}", which is sent as it is: data of the call are written "{{${name}}}"`,
      })),
      ...remark(body !== undefined && !sendsBody, `${path}.body`, `has no effect with ${method}: use POST, PUT or PATCH`),
      ...remark(response.length === 0, path, 'takes nothing from the answer: name in response what calls are to have'),
    ];
  });
}

function ineffective({
  textToSpeech,
  interruptions,
  recording,
  call,
  postCallAnalysis = [],
  release = {},
}: AgentSpec): readonly SpecProblem[] {
  const { provider, temperature } = textToSpeech;
  const { mode, message, reminders = [] } = call.silenceReminder;
  const endAfterMs = millisecondsOf(call.endAfterSilence);
  const { canary, pin } = release;
  const withoutEffect = Number(temperature) !== Number(DEFAULT_TEMPERATURE) && !temperatureProviders.includes(provider);
  const lasts = canary !== undefined && millisecondsOf(canary.deadline) < millisecondsOf(canary.for);
  return [
    ...remark(withoutEffect, 'spec.textToSpeech.temperature', `has no effect with ${provider}`),
    ...(['acknowledgements', 'stopWords'] as const).flatMap((words) =>
      remark(
        interruptions.mode === 'Never' && (interruptions[words] ?? []).length > 0,
        `spec.interruptions.${words}`,
        'has no effect: nothing interrupts the agent',
      ),
    ),
    ...remark(recording.mode === 'Never' && recording.retention !== undefined, 'spec.recording.retention', NOT_RECORDED),
    ...remark(
      call.voicemailDetection.mode === 'Never' && call.voicemailDetection.message !== undefined,
      'spec.call.voicemailDetection.message',
      'has no effect: voicemail is not recognised',
    ),
    ...remark(mode === 'Never' && message !== undefined, 'spec.call.silenceReminder.message', NEVER_ASKS),
    ...remark(mode === 'Never' && reminders.length > 0, 'spec.call.silenceReminder.reminders', NEVER_ASKS),
    ...reminders.flatMap(({ after }, index) =>
      remark(
        mode !== 'Never' && millisecondsOf(after) >= endAfterMs,
        `spec.call.silenceReminder.reminders[${index}].after`,
        `has no effect: the call ends after a silence of ${call.endAfterSilence}`,
      ),
    ),
    ...postCallAnalysis.flatMap(({ choices, examples = [] }, index) =>
      examples.flatMap((example, item) =>
        remark(choices?.includes(example) === false, `spec.postCallAnalysis[${index}].examples[${item}]`, 'is none of the choices'),
      ),
    ),
    ...remark(pin !== undefined && canary !== undefined, 'spec.release.canary', 'has no effect while pin is set'),
    ...remark(lasts, 'spec.release.canary.deadline', 'has no effect: the canary serves longer by its for'),
  ];
}

const NEVER_ASKS = 'has no effect: the agent never asks';
const NOT_RECORDED = 'has no effect: calls are not recorded';

const remark = (applies: boolean, path: string, message: string): readonly SpecProblem[] => (applies ? [{ path, message }] : []);
