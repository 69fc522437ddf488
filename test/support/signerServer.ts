/**
 * A double of a key management service: it holds one key, knows its callers by a token, and has rules of its own. What
 * it signs it first computes from what the digest is said to stand for.
 */
import { Effect, type Scope } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { hashMessage, hashTypedData, type Hex, keccak256, parseTransaction } from "viem"
import { privateKeyToAddress, sign } from "viem/accounts"
import { entryPoint07Address } from "viem/account-abstraction"

interface SignRequest {
  readonly keyId: string
  readonly digest: Hex
  readonly context:
    | { readonly kind: "transaction"; readonly unsigned: `0x02${string}` }
    | { readonly kind: "userOperation"; readonly userOpHash: Hex }
    | {
        readonly kind: "price"
        readonly chainId: number
        readonly guard: Hex
        readonly token: Hex
        readonly price: string
        readonly time: number
      }
}

export interface SignerServer {
  readonly url: string
  readonly address: string
  readonly requests: ReadonlyArray<SignRequest>
  /** Answers instead of a signature. */
  answer: ((signature: Hex) => { readonly status: number; readonly body: string }) | undefined
}

/**
 * Why the rules refuse, if they do: the digest must be that of the context, and a transaction may only call the
 * EntryPoint.
 */
const refusal = ({ context, digest }: SignRequest): string | undefined => {
  if (context.kind === "userOperation")
    return hashMessage({ raw: context.userOpHash }) === digest ? undefined : "the digest is not the operation's"
  if (context.kind === "price") {
    const { chainId, guard, price, time, token } = context
    const meant = hashTypedData({
      domain: { name: "Ballast price attestor", version: "1", chainId, verifyingContract: guard },
      types: {
        Price: [
          { name: "token", type: "address" },
          { name: "price", type: "uint128" },
          { name: "time", type: "uint40" }
        ]
      },
      primaryType: "Price",
      message: { token, price: BigInt(price), time }
    })
    return meant === digest ? undefined : "the digest is not the price's"
  }
  if (keccak256(context.unsigned) !== digest) return "the digest is not the transaction's"
  const { to, value } = parseTransaction(context.unsigned)
  if (to?.toLowerCase() !== entryPoint07Address.toLowerCase()) return "only the EntryPoint may be called"
  return value === undefined || value === 0n ? undefined : "no value may be sent"
}

export const signerServer = (options: {
  readonly key: Hex
  readonly keyId: string
  readonly token: string
}): Effect.Effect<SignerServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const requests: Array<SignRequest> = []
    const state: SignerServer = { url: "", address: privateKeyToAddress(options.key), requests, answer: undefined }
    const serve = async (request: SignRequest) => {
      requests.push(request)
      if (request.keyId !== options.keyId) return { status: 404, body: "{}" }
      const reason = refusal(request)
      if (reason !== undefined) return { status: 403, body: JSON.stringify({ reason }) }
      const signature = await sign({ hash: request.digest, privateKey: options.key, to: "hex" })
      return state.answer?.(signature) ?? { status: 200, body: JSON.stringify({ signature }) }
    }
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const known = request.headers.authorization === `Bearer ${options.token}`
        const answered = known
          ? serve(JSON.parse(Buffer.concat(chunks).toString()) as SignRequest)
          : Promise.resolve({ status: 401, body: "{}" })
        answered.then(
          ({ body, status }) => response.writeHead(status, { "content-type": "application/json" }).end(body),
          () => response.destroy()
        )
      })
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
        })
    )
    return Object.assign(state, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sign` })
  })
