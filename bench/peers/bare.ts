/** The least that node:http can do: one fixed JSON body for every request. No routing, no check of any kind. */
import { createServer } from "node:http"
import { serve } from "#bench/peers/serve.ts"

serve(async ({ body }: { readonly body: string }) => {
  const bytes = Buffer.from(body, "utf8")
  const headers = { "content-type": "application/json", "content-length": bytes.length }
  const server = createServer((_, response) => {
    response.writeHead(200, headers).end(bytes)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return server
})
