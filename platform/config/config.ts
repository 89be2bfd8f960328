/**
 * Defines the configuration of every role: environment variables, read once at start. One schema serves validation, `parley config`, the
 * reference page and the chart's values.
 */
import { z } from 'zod';

import { NumberAssignments } from './phone-numbers.ts';
import { commaList, flag, jsonList, jsonObject, milliseconds, port, readable } from './fields.ts';
import { problemOfPrices, providerPrice } from './prices.ts';
import { embeddingProfile, ocrProfile, providerDefaults, rerankProfile } from './profiles.ts';
import { telemetryFields } from './telemetry.ts';
import { voiceFields } from './voice.ts';
import { parseCidr } from '../egress/address.ts';
import { parseHosts } from '../egress/hosts.ts';
import { parseDnsServer } from '../egress/name-resolver.ts';
import { DEFAULT_PORTS, parseDeniedPorts, parsePorts } from '../egress/ports.ts';
import { parseSmtpServers } from './smtp-servers.ts';

const schema = z.object({
  PARLEY_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Least severe log line that is written.'),
  PARLEY_HOST: z.string().default('127.0.0.1').describe('Address that every role listens on.'),
  PARLEY_API_PORT: port(8080).describe('Port of the REST API, with /healthz, /readyz and /metrics; 0 takes a free one.'),
  PARLEY_OPERATOR_PORT: port(8081).describe("Port of the operator's /healthz, /readyz and /metrics."),
  PARLEY_WORKER_PORT: port(8082).describe("Port of the worker's /healthz, /readyz and /metrics."),
  PARLEY_VOICE_PORT: port(8084).describe("Port of the voice role's /healthz, /readyz and /metrics."),
  PARLEY_DISPATCHER_PORT: port(8083).describe("Port of the dispatcher's /healthz, /readyz and /metrics."),
  PARLEY_METRICS_TOKEN: z
    .string()
    .optional()
    .describe('What /metrics of every role asks for, `Authorization: Bearer …`; absent, it answers any client that reaches the port.')
    .meta({ secret: true }),
  PARLEY_SHUTDOWN_TIMEOUT_MS: milliseconds(25_000).describe('Longest orderly stop after SIGTERM, in milliseconds.'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// address')
    .optional()
    .describe('Postgres 16 or newer, postgres://user:password@host:port/database.')
    .meta({ secret: true }),
  PARLEY_DATABASE_POOL: z.coerce.number().int().min(1).max(200).default(10).describe('Connections to Postgres per process.'),
  PARLEY_RATE_LIMIT_KEY_PER_SECOND: z.coerce
    .number()
    .int()
    .min(0)
    .default(60)
    .describe('Requests a second that an API key may make for as long as it likes; 0 for no limit.'),
  PARLEY_RATE_LIMIT_KEY_BURST: z.coerce.number().int().min(1).default(120).describe('Requests that an API key may make at once.'),
  PARLEY_RATE_LIMIT_ORGANIZATION_PER_SECOND: z.coerce
    .number()
    .int()
    .min(0)
    .default(3000)
    .describe('Requests a second that all keys of an organisation may make together; 0 for no limit.'),
  PARLEY_RATE_LIMIT_ORGANIZATION_BURST: z.coerce
    .number()
    .int()
    .min(1)
    .default(6000)
    .describe('Requests that all keys of an organisation may make at once.'),
  PARLEY_RATE_LIMIT_SEARCH_PER_SECOND: z.coerce
    .number()
    .int()
    .min(0)
    .default(20)
    .describe('Searches a second that all keys of an organisation may make together; 0 for no limit.'),
  PARLEY_RATE_LIMIT_SEARCH_BURST: z.coerce
    .number()
    .int()
    .min(1)
    .default(40)
    .describe('Searches that all keys of an organisation may make at once.'),
  PARLEY_RATE_LIMIT_CALLS_PER_SECOND: z.coerce
    .number()
    .int()
    .min(0)
    .default(10)
    .describe('Calls a second that all keys of an organisation may make together; 0 for no limit.'),
  PARLEY_RATE_LIMIT_CALLS_BURST: z.coerce
    .number()
    .int()
    .min(1)
    .default(20)
    .describe('Calls that all keys of an organisation may make at once.'),
  PARLEY_RATE_LIMIT_EXCHANGE_MS: milliseconds(250).describe(
    'Time between two exchanges of what the api replicas have let through, in milliseconds; 0 lets each replica count by itself.',
  ),
  PARLEY_TRUSTED_PROXIES: z
    .string()
    .regex(/^[0-9a-fA-F.:/, ]*$/, 'must be addresses or networks (10.0.0.0/8), separated by commas')
    .default('')
    .describe('Proxies whose X-Forwarded-For gives the address of a client, for the log: addresses or networks, separated by commas.'),
  PARLEY_NATIVE_NUMBERS: z
    .string()
    .regex(
      /^(\+[1-9][0-9]{0,14}\*?( *, *\+[1-9][0-9]{0,14}\*?)*)?$/,
      'must be numbers like +15550100, or beginnings like +1555*, separated by commas',
    )
    .default('')
    .describe(
      'Phone numbers that the provider `native` has: E.164, or the beginning of some with * after it, separated by commas; any number where empty. The same for api and operator.',
    ),
  PARLEY_NUMBER_RESERVATION_DAYS: z.coerce
    .number()
    .min(0)
    .max(3650)
    .default(30)
    .describe(
      'How long a phone number stays reserved for its organisation once its last PhoneNumber is deleted, in days. The same for api and operator.',
    ),
  PARLEY_NUMBER_ASSIGNMENTS: readable((value) => new NumberAssignments(commaList(value)), '')
    .transform(commaList)
    .describe(
      'Phone numbers that only these organisations may have, separated by commas: +12125550100=organisation, or +4930*=organisation for all that begin so; the longest that fits decides. The same for api and operator.',
    ),
  PARLEY_NATIVE_TERMINATION_URI: z
    .string()
    .optional()
    .describe('Trunk through which `native` numbers call: host, host:port or a SIP URI. For the operator.'),
  PARLEY_NATIVE_TERMINATION_USERNAME: z.string().optional().describe('User name at that trunk.'),
  PARLEY_NATIVE_TERMINATION_PASSWORD: z.string().optional().describe('Password at that trunk.').meta({ secret: true }),
  PARLEY_CARRIER_TERMINATION_URI: z
    .string()
    .optional()
    .describe('Trunk through which `carrier` numbers call, each with its own account: host, host:port or a SIP URI. For the operator.'),
  PARLEY_SIP_ALLOWED_ADDRESSES: z
    .string()
    .regex(/^([0-9a-fA-F.:]+(\/[0-9]{1,3})?( *, *[0-9a-fA-F.:]+(\/[0-9]{1,3})?)*)?$/, 'must be addresses or networks, separated by commas')
    .default('')
    .describe(
      'Where calls by phone may come from, for numbers without a user and password: addresses and networks, separated by commas; anywhere where empty. For the operator.',
    ),
  PARLEY_SIP_ALLOW_CIDRS: readable((value) => commaList(value).forEach(parseCidr), '')
    .transform(commaList)
    .describe(
      'Networks that trunks and SIP addresses of transfers may be on although they are not public, next to those of PARLEY_EGRESS_ALLOW_CIDRS, separated by commas, e.g. 10.20.0.5/32 of a PBX. The same for api, operator and voice.',
    ),
  PARLEY_TRUNKS_LOOK_MS: milliseconds(30_000).describe(
    'How often the operator checks that the media server still has the trunks of all numbers, in milliseconds.',
  ),
  PARLEY_MCP_REFRESH_SECONDS: z.coerce
    .number()
    .int()
    .min(5)
    .max(86_400)
    .default(300)
    .describe('How often the worker asks each MCP server for its tools, in seconds; a changed Tool or Secret is acted upon at once.'),
  PARLEY_REQUEST_TIMEOUT_MS: z.coerce
    .number()
    .int()
    .min(1000)
    .default(30_000)
    .describe('Timeout of a request to the REST API, in milliseconds; the answer is 503 then.'),
  TEMPORAL_ADDRESS: z.string().default('127.0.0.1:7233').describe("host:port of Temporal's frontend."),
  TEMPORAL_NAMESPACE: z.string().default('default').describe('Temporal namespace.'),
  TEMPORAL_API_KEY: z.string().optional().describe('API key for Temporal, sent over TLS.').meta({ secret: true }),
  TEMPORAL_TLS: flag(false).describe('TLS to Temporal; the variables of certificates and keys imply it.'),
  TEMPORAL_TLS_CLIENT_CERT_PATH: z.string().optional().describe('File with the client certificate for Temporal, PEM.'),
  TEMPORAL_TLS_CLIENT_KEY_PATH: z.string().optional().describe('File with the key of that certificate, PEM.'),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: z
    .string()
    .optional()
    .describe("File with the authority that Temporal's certificate is checked against, PEM; the public ones where absent."),
  TEMPORAL_TLS_SERVER_NAME: z.string().optional().describe("Name in Temporal's certificate, where it is not that of the address."),
  TEMPORAL_TASK_QUEUE: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,100}$/, 'must be 1 to 100 letters, digits, dots, hyphens and underscores')
    .default('parley')
    .describe(
      'Task queue of this installation, and the beginning of the names of its others; installations that share a Temporal namespace need one each.',
    ),
  PARLEY_INGESTION_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(64)
    .default(2)
    .describe(
      'Documents that a worker reads or indexes at the same time; as many small ones in addition, in stages and in one pass, and there one more of an organisation of which none is read.',
    ),
  PARLEY_PARSER_MEMORY_MB: z.coerce
    .number()
    .int()
    .min(200)
    .max(64_000)
    .default(2000)
    .describe('Memory of all processes in which a worker reads files, in MB; one file gets 1500 of it at most.'),
  PARLEY_PARSER_IDLE_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(86_400)
    .default(60)
    .describe('How long such a process waits for the next file before it ends, in seconds.'),
  PARLEY_DELIVERY_RETRY_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(100)
    .describe('Retries of webhook deliveries that a worker sends at the same time.'),
  PARLEY_TEST_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(64)
    .default(16)
    .describe('Agent tests in text mode that a worker runs at the same time, and one more of an organisation of which it runs none.'),
  PARLEY_TEST_CALLS: z.coerce
    .number()
    .int()
    .min(1)
    .max(64)
    .default(4)
    .describe(
      'Agent tests in audio mode that a worker runs at the same time, and one more of an organisation of which it runs none: each is a call, which the voice roles serve next to those of users.',
    ),
  KUBECONFIG: z.string().optional().describe("Where the API server is; in a pod the service account's own configuration is used."),
  PARLEY_NAMESPACE: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be the name of a namespace')
    .optional()
    .describe(
      'The only namespace to look at, which is the only organisation then, labelled or not: roles need no permission beyond it. The whole cluster where absent.',
    ),
  PARLEY_LEADER_ELECTION: flag(true).describe('One active operator among several; false for a single one.'),
  PARLEY_LEASE_NAMESPACE: z.string().default('parley-system').describe("Namespace of the operator's Lease."),
  PARLEY_IDENTITY: z.string().optional().describe("This process's name in the Lease; host name and process id where absent."),
  PARLEY_RECONCILE_CONCURRENCY: z.coerce.number().int().min(1).max(64).default(4).describe('Objects of one kind reconciled at once.'),
  PARLEY_DELETION_GRACE_MS: milliseconds(900_000).describe(
    'How long a deletion waits for Postgres or the media server before the object is released, in milliseconds.',
  ),
  PARLEY_REFERENCE_GRACE_MS: z.coerce
    .number()
    .int()
    .min(0)
    .max(86_400_000)
    .default(120_000)
    .describe(
      'How long a resource whose Secret, ConfigMap or other reference is not there yet counts as in progress before it counts as failed, in milliseconds.',
    ),
  PARLEY_EMBEDDING_PROFILES: jsonList(embeddingProfile, '[{"name":"default","provider":"lexical","model":"bm25"}]').describe(
    'Embedding profiles that KnowledgeBases may name, a JSON array.',
  ),
  PARLEY_RERANK_PROFILES: jsonList(rerankProfile, '[]').describe('Rerank profiles that KnowledgeBases may name, a JSON array.'),
  PARLEY_OCR: jsonObject(ocrProfile).describe(
    'How pages of PDFs that have no text are read (OCR), a JSON object; absent, they stay unread and are named in a warning.',
  ),
  PARLEY_PROVIDERS: jsonList(providerDefaults, '[]').describe(
    'Credentials and addresses of the providers of language models and speech, for agents that bring none of their own, a JSON array.',
  ),
  PARLEY_PRICES: jsonList(providerPrice, '[]', problemOfPrices).describe(
    'What providers charge, for the cost of calls, a JSON array; calls have no cost where it is empty. For voice, worker and operator.',
  ),
  PARLEY_TEST_JUDGE: z
    .string()
    .regex(/^[a-z_]+\/\S+$/, 'must be provider/model, such as openai/gpt-4.1-mini')
    .optional()
    .describe(
      "Model that decides the judge checks of AgentTests that name none, provider/model; its key is in PARLEY_PROVIDERS. The agent's own where absent.",
    ),
  STORAGE_URL: z
    .string()
    .regex(/^(file:\/\/\/|s3:\/\/[^/@]+(\/|$))/, 'must be file:///folder or s3://bucket/prefix?endpoint=…&region=…&forcePathStyle=true')
    .default('file:///var/lib/parley/files')
    .describe(
      "Where uploaded files are kept: a folder that api, worker and voice share, or a bucket; credentials come from AWS's own variables or the pod's identity.",
    ),
  VECTOR_STORE_URL: z
    .string()
    .regex(
      /^(pgvector:|milvus(\+tls)?:\/\/[^/?#]+(\/[A-Za-z0-9_]+)?)$/,
      'must be pgvector:, milvus://host:port or milvus+tls://user:password@host:port',
    )
    .default('pgvector:')
    .describe(
      'Where vectors are kept: `pgvector:`, in the database of DATABASE_URL, or Milvus, milvus://host:port or milvus+tls://user:password@host:port/database.',
    )
    .meta({ secret: true }),
  PARLEY_EGRESS_ALLOW_CIDRS: readable((value) => commaList(value).forEach(parseCidr), '')
    .transform(commaList)
    .describe(
      'Networks that webhooks, tools, websites and SIP may be on although they are not public, separated by commas, e.g. 10.20.0.0/16; none by default.',
    ),
  PARLEY_EGRESS_PORTS: readable(parsePorts, DEFAULT_PORTS).describe('Ports that webhooks, tools, websites and SIP may be on.'),
  PARLEY_EGRESS_DENY_PORTS: readable(parseDeniedPorts, '').describe(
    'Ports that are not called on addresses that PARLEY_EGRESS_ALLOW_CIDRS lets through, such as those of the installation itself: ports and ranges separated by commas. Names of PARLEY_EGRESS_HOSTS with a port lead there all the same.',
  ),
  PARLEY_EGRESS_DNS_SERVERS: readable((value) => commaList(value).forEach(parseDnsServer), '')
    .transform(commaList)
    .describe(
      'DNS servers to ask for the hosts of webhooks, tools and websites, address or address:port, separated by commas; those of the system where absent.',
    ),
  PARLEY_EGRESS_HOSTS: readable((value) => void parseHosts(commaList(value)), '')
    .transform(commaList)
    .describe(
      'Names of webhooks and websites that resolve to an address of your own instead of through DNS: name=address or name=address:port, separated by commas. The address has to be one that may be called.',
    ),
  PARLEY_EVENTS_KEEP_DAYS: z.coerce
    .number()
    .int()
    .min(1)
    .max(3650)
    .default(30)
    .describe('How long events are kept with their deliveries and attempts, in days.'),
  PARLEY_EVENT_BODIES_KEEP_DAYS: z.coerce
    .number()
    .int()
    .min(1)
    .max(3650)
    .default(7)
    .describe('How long the bodies of events are kept, and deliveries can be replayed, in days.'),
  LIVEKIT_URL: z
    .string()
    .regex(/^(wss?|https?):\/\//, 'must be a ws:// or http:// address')
    .optional()
    .describe('The media server, as Parley reaches it; without one there are no calls, and phone numbers stay unconnected.'),
  LIVEKIT_PUBLIC_URL: z
    .string()
    .regex(/^(wss?|https?):\/\//, 'must be a ws:// or http:// address')
    .optional()
    .describe('The media server, as browsers reach it; LIVEKIT_URL where absent.'),
  LIVEKIT_API_KEY: z.string().optional().describe("Name of a key in the media server's configuration."),
  LIVEKIT_API_SECRET: z
    .string()
    .min(32, 'must have at least 32 characters')
    .optional()
    .describe('The secret of that key.')
    .meta({ secret: true }),
  PARLEY_CALL_PAGE: flag(false).describe(
    'Serve pages with the REST API: /call, to talk to agents with a browser, and /calls, to look at calls. They ask for an API key.',
  ),
  PARLEY_MCP: flag(true).describe('Serve assistants at /mcp of the REST API (Model Context Protocol), with the API keys of REST.'),
  LIVEKIT_AGENT_NAME: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be 1 to 100 letters, digits, underscores and hyphens')
    .default('parley-voice')
    .describe('Name under which the voice roles take calls from the media server; installations that share a media server need one each.'),
  ...voiceFields,
  PARLEY_SMTP_SERVERS: readable((value) => void parseSmtpServers(commaList(value)), '')
    .transform(commaList)
    .describe(
      'Mail servers of the tool send_email by the domain of the sender, separated by commas: example.com=smtp://mail.example.com:587 (STARTTLS) or smtps:// (TLS), and `*` for all others. Large providers are known without an entry.',
    ),
  PARLEY_CALENDAR_URL: z
    .url({ protocol: /^https?$/ })
    .regex(/^[^@?#]*$/, 'must be without user, password, query and fragment')
    .default('https://api.cal.com/v2')
    .describe("Cal.com's API v2, for the calendar tools: another address for an installation of your own."),
  PARLEY_SIGNING_SECRETS: readable((value) => {
    if (commaList(value).some((secret) => secret.length < 32)) throw new Error('each must have at least 32 characters');
  }, '')
    .transform(commaList)
    .describe(
      'Secrets that sign page tokens and the addresses of recordings, separated by commas, the newest first: the first one signs, all are accepted. Where empty, a secret that the migration has made and the database keeps.',
    )
    .meta({ secret: true }),
  PARLEY_PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Address of the REST API as clients reach it, for the addresses of recordings; by default they lead to the port of the API on its own machine.',
    ),
  ...telemetryFields,
});

export type Config = z.output<typeof schema>;

/** Reports variables with values that can't be used. The message names each, with the allowed form. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** @throws ConfigError naming every bad variable at once. Empty variables count as absent. */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const result = schema.safeParse(present);
  if (result.success) return result.data;
  // An invalid number arrives as NaN: the message must show the text instead.
  const lines = result.error.issues.map(
    (issue) => `  ${issue.path.join('.')}: ${issue.message.endsWith('received NaN') ? 'must be a number' : issue.message}`,
  );
  throw new ConfigError(
    `the configuration has ${lines.length === 1 ? 'a bad value' : 'bad values'}:\n${lines.join('\n')}\nSee \`parley config\` for what is allowed.`,
  );
}

export interface ConfigEntry {
  readonly name: string;
  readonly description: string;
  readonly secret: boolean;
  /** JSON Schema fragment of the text, for the reference and the chart. */
  readonly schema: unknown;
  /** JSON Schema fragment of the list that the text holds as JSON; only for such variables. */
  readonly list?: unknown;
}

export function configEntries(): readonly ConfigEntry[] {
  return Object.entries(schema.shape).map(([name, field]) => configEntry(name, field));
}

function configEntry(name: string, field: z.ZodType): ConfigEntry {
  const isList = field instanceof z.ZodPipe && field.out instanceof z.ZodArray;
  return {
    name,
    description: field.description ?? '',
    secret: field.meta()?.['secret'] === true,
    schema: z.toJSONSchema(field, { io: 'input' }),
    ...(isList && { list: z.toJSONSchema(field.out, { io: 'input' }) }),
  };
}
