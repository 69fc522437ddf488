/** A deployment that holds neither key: both are behind services, and a swap lands all the same. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { keccak256, toHex } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { NoAttestor } from "#layers/attestor/PriceAttestorLive.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { EvmLive } from "#layers/evm/EvmLive.ts"
import {
  agent,
  batchOf,
  configFor,
  enroll,
  EvmWorld,
  execute,
  fund,
  quotedSwap,
  relayer
} from "#test/layers/evm/EvmWorld.ts"
import { dollars } from "#test/layers/evm/tradingAccount.ts"
import { signerServer } from "#test/support/signerServer.ts"

const token = "token-of-the-signer-0123456789"
const remote = (name: string, address: string) =>
  Effect.map(signerServer({ key: keccak256(toHex(`ballast test ${name}`)), keyId: name, token }), (server) => ({
    server,
    config: {
      kind: "remote",
      url: server.url,
      keyId: name,
      token: Redacted.make(token),
      address: address as EvmAddress
    } as const
  }))

layer(EvmWorld.layer, { excludeTestServices: true })("remote keys", (it) => {
  it.effect("enroll, sign and pay for a swap, each key for its own part", () =>
    Effect.gen(function* () {
      const { base } = yield* EvmWorld
      const [agents, relayers] = [yield* remote("agent", agent.address), yield* remote("relayer", relayer.address)]
      const services = Layer.fresh(EvmLive).pipe(
        Layer.provide(NoAttestor),
        Layer.provide(
          Layer.succeed(EvmConfig, { ...configFor([base]), agent: agents.config, relayers: [relayers.config] })
        ),
        Layer.provide(SecureRandom.layerWebCrypto)
      )
      yield* Effect.gen(function* () {
        const enrollment = yield* enroll(60n, [[base, "USDC", "WETH"]])
        yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(10n) })
        const swap = yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
        const { receipt } = yield* execute(batchOf(enrollment, base, [swap]))
        assert.isTrue(receipt.success)
      }).pipe(Effect.provide(services))
      const kindsOf = ({ server }: typeof agents) => new Set(server.requests.map(({ context }) => context.kind))
      assert.deepStrictEqual(kindsOf(agents), new Set(["userOperation"]))
      assert.deepStrictEqual(kindsOf(relayers), new Set(["transaction"]))
    })
  )
})
