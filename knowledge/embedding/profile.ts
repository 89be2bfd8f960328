import type { Config } from '../../platform/config.ts';

/** How texts become vectors; see PARLEY_EMBEDDING_PROFILES. */
export type EmbeddingProfile = Config['PARLEY_EMBEDDING_PROFILES'][number];

export type OpenAiProfile = Extract<EmbeddingProfile, { provider: 'openai_compatible' }>;
export type LocalProfile = Extract<EmbeddingProfile, { provider: 'local' }>;
