/** Recordings of calls. */
export { RecordingEncoder } from './encoder/index.ts';
export { Recordings, uploadRecordings, type OpenRecording, type Saved } from './recordings.ts';
export { ensureSpool, spoolFolderOf } from './spool.ts';
