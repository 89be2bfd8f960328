/** Recordings of calls, from their sound to the storage. */
export { RecordingEncoder } from './encoder/index.ts';
export { Recordings, uploadRecordings, type OpenRecording, type Saved } from './recordings.ts';
export { ensureSpool, spoolFolderOf } from './spool.ts';
