import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where `vite dev` finds the server; the built app is served by the server itself, from the same origin. */
const DEV_SERVER = 'http://127.0.0.1:4800';

export default defineConfig(({ command }) => {
  // Who builds for a test run has NODE_ENV=test: that would take React's development build, at three times the cost.
  if (command === 'build') process.env['NODE_ENV'] = 'production';
  return {
    root: import.meta.dirname,
    plugins: [react(), tailwindcss()],
    build: {
      // The server's content policy allows its own files only: nothing may be inlined as a data: address.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: true,
      sourcemap: false,
      // One file on purpose: the chat is the first page, and all of it is under 300 KB gzipped.
      chunkSizeWarningLimit: 900,
      // Else each part that a later page needs as well is a file of its own, and together they are larger.
      rolldownOptions: {
        output: { codeSplitting: { groups: [{ name: 'chat', tags: ['$initial'] }] } },
      },
    },
    server: { host: '127.0.0.1', proxy: { '/api': DEV_SERVER } },
  };
});
