/** Defines the JSON of the variables about outside models. */
import { z } from 'zod';

const providerURL = z
  .url({ protocol: /^https?$/ })
  .regex(/^[^@?#]*$/, 'must be without user, password, query and fragment: keys belong in apiKeyEnv or apiKeyFile');

const oneKey = ({
  apiKeyEnv,
  apiKeyFile,
}: {
  readonly apiKeyEnv?: string | undefined;
  readonly apiKeyFile?: string | undefined;
}): boolean => apiKeyEnv === undefined || apiKeyFile === undefined;
const ONE_KEY_MESSAGE = 'apiKeyEnv and apiKeyFile exclude each other';

const profileName = z.string().min(1).max(63).describe('What KnowledgeBases call the profile.');

/** Fields that every profile with vectors has for its model. */
const embeddingModel = {
  name: profileName,
  model: z.string().min(1).describe('Name of the model; kept with each knowledge base, which refuses another.'),
  dimension: z.int().min(1).max(16_000).describe("Length of the model's vectors."),
  queryPrefix: z.string().default('').describe('What the model wants before a question, such as "query: ".'),
  passagePrefix: z.string().default('').describe('What the model wants before a passage, such as "passage: ".'),
  maxTokens: z.int().min(16).default(512).describe('Longest text that the model takes; longer ones are cut.'),
};

export const embeddingProfile = z.discriminatedUnion('provider', [
  z.strictObject({
    provider: z.literal('lexical').describe('Ranks by words (BM25), offline, without vectors.'),
    name: profileName,
    model: z.string().default(''),
    dimension: z.int().min(0).max(0).default(0),
  }),
  z
    .strictObject({
      provider: z.literal('openai_compatible').describe("Any server that speaks OpenAI's /embeddings."),
      ...embeddingModel,
      baseURL: providerURL.describe('Address up to and without /embeddings.'),
      apiKeyEnv: z.string().min(1).optional().describe('Variable that holds the key.'),
      apiKeyFile: z.string().min(1).optional().describe('File that holds the key, read for each request.'),
      batchSize: z.int().min(1).max(2048).default(64).describe('Texts in a request.'),
      concurrency: z.int().min(1).max(64).default(4).describe('Requests at once.'),
      timeoutMs: z.int().min(100).default(30_000).describe('Longest time for one request, in milliseconds.'),
    })
    .refine(oneKey, ONE_KEY_MESSAGE),
  z.strictObject({
    provider: z.literal('local').describe('A model in a folder, run in a process of its own; needs @huggingface/transformers.'),
    ...embeddingModel,
    path: z.string().min(1).describe('Folder of the model: config.json, tokenizer.json, onnx/model.onnx or onnx/model_quantized.onnx.'),
    quantized: z.boolean().default(false).describe('Take onnx/model_quantized.onnx.'),
  }),
]);

/** Describes a model that reads question and passages together. */
export const rerankProfile = z
  .strictObject({
    name: profileName,
    provider: z
      .enum(['cohere', 'jina', 'voyage', 'openai_compatible', 'text_embeddings_inference'])
      .describe("Whose /rerank it is; openai_compatible is Cohere's form, as vLLM and others have it."),
    model: z.string().min(1).max(256).default('default').describe('Name of the model; text_embeddings_inference has one only.'),
    baseURL: providerURL.optional().describe("Address up to and without /rerank; the provider's own where absent."),
    apiKeyEnv: z.string().min(1).optional().describe('Variable that holds the key.'),
    apiKeyFile: z.string().min(1).optional().describe('File that holds the key, read for each request.'),
    candidates: z.int().min(2).max(200).default(30).describe('How many of the first hits are reranked.'),
    timeoutMs: z.int().min(20).max(10_000).default(500).describe('Longest wait, in milliseconds; then the order of the search holds.'),
  })
  .refine(oneKey, ONE_KEY_MESSAGE)
  .refine(
    ({ provider, baseURL }) => baseURL !== undefined || !['openai_compatible', 'text_embeddings_inference'].includes(provider),
    'openai_compatible and text_embeddings_inference need a baseURL',
  )
  .refine(({ provider, model }) => provider === 'text_embeddings_inference' || model !== 'default', 'the model is missing');

const ocrLimits = {
  maxPages: z.int().min(1).max(1000).default(50).describe('Pages of one document that are read; those behind them stay unread.'),
  concurrency: z.int().min(1).max(64).default(2).describe('Pages that one worker reads at the same time.'),
  timeoutMs: z.int().min(1000).max(600_000).default(60_000).describe('Longest time for one page, in milliseconds.'),
  documentTimeoutMs: z
    .int()
    .min(1000)
    .max(3_600_000)
    .default(900_000)
    .describe('Time after which no further page of a document is begun, in milliseconds.'),
};

/** Says how pages are read that have no text but pictures. */
export const ocrProfile = z.discriminatedUnion('provider', [
  z
    .strictObject({
      provider: z.literal('openai_compatible').describe("Any server that speaks OpenAI's /chat/completions with pictures."),
      model: z.string().min(1).max(256).describe('Name of a model that sees.'),
      baseURL: providerURL.describe('Address up to and without /chat/completions.'),
      apiKeyEnv: z.string().min(1).optional().describe('Variable that holds the key.'),
      apiKeyFile: z.string().min(1).optional().describe('File that holds the key, read for each request.'),
      ...ocrLimits,
    })
    .refine(oneKey, ONE_KEY_MESSAGE),
  z.strictObject({
    provider: z.literal('tesseract').describe('The program `tesseract` on the PATH of the worker.'),
    languages: z
      .array(z.string().regex(/^[A-Za-z][A-Za-z0-9_/-]{1,40}$/, 'must be a name of Tesseract such as deu or chi_sim'))
      .min(1)
      .max(10)
      .default(['eng'])
      .describe('Names of the language data to read with, such as deu; each must be installed.'),
    ...ocrLimits,
  }),
]);

/** Says what an agent's `provider` means on this installation. */
export const providerDefaults = z
  .strictObject({
    name: z.string().min(1).max(64).describe('The `provider` of agents that it is for.'),
    baseURL: providerURL
      .optional()
      .describe("A server that speaks OpenAI's protocol, up to and without /chat/completions and /audio; the provider's own where absent."),
    apiKeyEnv: z.string().min(1).optional().describe('Variable that holds the key.'),
    apiKeyFile: z.string().min(1).optional().describe('File that holds the key, read for each call.'),
    llmModel: z.string().min(1).optional().describe('Language model: with a baseURL in place of the one that agents name.'),
    sttModel: z
      .string()
      .min(1)
      .optional()
      .describe('Model that understands speech: with a baseURL in place of the one that agents name, else where they name none.'),
    ttsModel: z.string().min(1).optional().describe('Model that speaks, likewise.'),
    voice: z.string().min(1).optional().describe('Voice, likewise.'),
  })
  .refine(oneKey, ONE_KEY_MESSAGE);
