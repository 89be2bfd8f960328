/** Finds addresses of a spec that may not be called: the REST API refuses them, and the status reports those that are written elsewhere. */
import { filledAddress, hasOpenHost, httpAddress, originOf } from '../crds/address.ts';
import type { AgentSpec, AgentTestSpec, ToolSpec } from '../crds/index.ts';
import type { SpecProblem } from '../crds/limits.ts';
import type { AddressChecks } from './address-checks.ts';
import { isSip } from './sip/termination.ts';

type Addresses = readonly (readonly [path: string, address: string | undefined])[];

interface Provided {
  readonly baseURL?: string | undefined;
  readonly fallbacks?: readonly { readonly baseURL?: string | undefined }[] | undefined;
}

/** Checks the addresses without which an agent neither hears, thinks nor speaks. */
export function providerAddressProblems(
  { llm, realtime, speechToText, textToSpeech }: AgentSpec,
  { web }: AddressChecks,
): readonly SpecProblem[] {
  const parts: Readonly<Record<string, Provided>> = { llm, realtime: realtime ?? {}, speechToText, textToSpeech };
  return Object.entries(parts).flatMap(([part, { baseURL, fallbacks = [] }]) => {
    const addresses = fallbacks.map((fallback, index) => [`spec.${part}.fallbacks[${index}].baseURL`, fallback.baseURL] as const);
    return forbidden([[`spec.${part}.baseURL`, baseURL], ...addresses], originCheck(web));
  });
}

/** Checks the addresses that a call can do without. */
export function companionAddressProblems({ webhookURL, dynamicData = [] }: AgentSpec, { web }: AddressChecks): readonly SpecProblem[] {
  const lookups = dynamicData.map(({ url }, index) => [`spec.dynamicData[${index}].url`, url] as const);
  return [...forbidden([['spec.webhookURL', webhookURL]], web), ...forbidden(lookups, originCheck(web))];
}

export function toolAddressProblems({ custom, mcp, transferCall }: ToolSpec, { web, sip }: AddressChecks): readonly SpecProblem[] {
  const servers: Addresses = [
    ['spec.mcp.url', mcp?.url],
    ['spec.mcp.oauth.tokenURL', mcp?.oauth?.tokenURL],
  ];
  const { to = '' } = transferCall ?? {};
  const message = isSip(to) ? sip(to) : undefined;
  return [
    ...forbidden([['spec.custom.http.url', custom?.http.url]], originCheck(web)),
    ...forbidden(servers, web),
    ...(message === undefined ? [] : [{ path: 'spec.transferCall.to', message }]),
  ];
}

export function agentTestAddressProblems({ judge, simulatedUser }: AgentTestSpec, { web }: AddressChecks): readonly SpecProblem[] {
  return forbidden(
    [
      ['spec.judge.baseURL', judge?.baseURL],
      ['spec.simulatedUser.llm.baseURL', simulatedUser?.llm?.baseURL],
    ],
    originCheck(web),
  );
}

type Check = AddressChecks['web'];

/** Leaves out what other checks refuse as no address, and addresses whose host a placeholder decides: the call checks those. */
function forbidden(addresses: Addresses, check: Check): readonly SpecProblem[] {
  return addresses.flatMap(([path, address]) => {
    if (address === undefined || httpAddress(address, path).length > 0 || hasOpenHost(address)) return [];
    const message = check(filledAddress(address));
    return message === undefined ? [] : [{ path, message }];
  });
}

/** Checks the origin alone, because the path is encoded before the address is called. */
const originCheck =
  (web: Check): Check =>
  (address) =>
    web(originOf(address));
