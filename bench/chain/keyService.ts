/** A key service on a port of its own that takes its time, as one of a cloud does: it signs whatever it is sent. */
import { Effect, Redacted } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import { json } from "node:stream/consumers"
import { setTimeout as wait } from "node:timers/promises"
import type { AddressInfo } from "node:net"
import type { Hex } from "viem"
import { privateKeyToAddress, sign } from "viem/accounts"
import { fromViem } from "#layers/evm/address.ts"
import type { SignerConfig } from "#layers/evm/SignerConfig.ts"

/** Where the key is, for the service. The port is closed with the scope. */
export const keyService = (key: Hex, latencyMillis: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(async (request, response) => {
        const { digest } = (await json(request)) as { readonly digest: Hex }
        await wait(latencyMillis)
        const signature = await sign({ hash: digest, privateKey: key, to: "hex" })
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ signature }))
      })
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    }),
    (server) => Effect.sync(() => server.close().closeAllConnections())
  ).pipe(
    Effect.map((server): SignerConfig => ({
      kind: "remote",
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      keyId: "bench",
      token: Redacted.make("bench"),
      address: fromViem(privateKeyToAddress(key))
    }))
  )
