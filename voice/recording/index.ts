/** Recordings of calls. */
export { prepareEncoder } from './encoder.ts';
export { Recordings, uploadRecordings, type OpenRecording, type Saved } from './recordings.ts';
export { ensureSpool, spoolFolderOf } from './spool.ts';
