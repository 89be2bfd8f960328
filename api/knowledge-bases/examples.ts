/** Example answers for the OpenAPI document. */
import { readyExample } from '../state/answers.ts';

const times = { created_at: '2026-11-21T06:00:00.000Z', updated_at: '2026-11-21T06:00:04.000Z' };
const DOCUMENT_ID = 'doc_0199f2d0-7b1e-7c3a-9d52-1f2e3d4c5b6a';

export const knowledgeBaseExample = {
  id: 'product-manuals-k3xq5w7z',
  organization_id: 'acme',
  user_id: 'user-1',
  name: 'Product manuals',
  description: null,
  document_language: 'en',
  total_documents: 3,
  documents: { total: 3, processing: 1, completed: 2, failed: 0 },
  status: 'ready',
  state: readyExample,
  created_at: '2026-11-21T06:00:00Z',
  updated_at: '2026-11-21T06:00:00Z',
};

export const acknowledgementExample = {
  document_id: DOCUMENT_ID,
  status: 'processing',
  message: 'The document was accepted and is being ingested',
};

const state = { status: 'completed', message: 'The document can be found', chunk_count: 57 };

export const documentStatusExample = {
  document_id: DOCUMENT_ID,
  ...state,
  progress: { stage: 'completed', done: 57, total: 57 },
  ...times,
};

export const documentExample = {
  document_id: DOCUMENT_ID,
  knowledge_base_id: knowledgeBaseExample.id,
  type: 'file',
  filename: 'manual.pdf',
  title: 'XK-7420 Manual',
  page_urls: null,
  size_bytes: 1_482_113,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  metadata: { product: 'XK-7420', year: 2026 },
  source: null,
  ...state,
  warnings: [],
  created_by_user_id: 'user-1',
  ...times,
};

export const chunksExample = {
  document_id: DOCUMENT_ID,
  filename: 'manual.pdf',
  chunk_count: 2,
  chunks: ['Hold the button for five seconds to reset the device.', 'The device has no parts that you can repair.'],
};

export const searchExample = {
  query: 'how do I reset it',
  results: [
    {
      chunk_id: `${DOCUMENT_ID}:12`,
      document_id: DOCUMENT_ID,
      filename: 'manual.pdf',
      content: 'Hold the button for five seconds to reset the device.',
      snippet: 'Hold the button for five seconds to reset the device.',
      score: 0.83,
      chunk_index: 12,
      metadata: { product: 'XK-7420', year: 2026, title: 'XK-7420 Manual', heading_path: ['Care', 'Reset'], page: 7 },
    },
  ],
};

export const bulkResultExamples = [
  { index: 0, name: 'opening-hours.md', status: 'accepted', document_id: DOCUMENT_ID, existing: false },
  {
    index: 1,
    name: 'photo.png',
    status: 'failed',
    existing: false,
    error: {
      code: 'unsupported_media_type',
      message: 'files of this kind are not read: send one of .pdf, .docx, .txt, .md, .xlsx, .xls',
    },
  },
];
