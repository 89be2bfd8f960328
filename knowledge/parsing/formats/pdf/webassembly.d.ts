/// <reference types="emscripten" />
/** The parts of the language that neither Node's types nor emscripten's have as values. */
declare namespace WebAssembly {
  const Module: new (bytes: Uint8Array) => Module;
  const Instance: new (module: Module, imports: Imports) => Instance;
}
