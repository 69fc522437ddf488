import { assert, describe, layer } from "@effect/vitest"
import { addressToEmptyAccount } from "@zerodev/sdk"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { MerkleTree } from "merkletreejs"
import { type Hex, keccak256, type LocalAccount, parseSignature, serializeSignature } from "viem"
import { addressOf, ChainId, chainIdOf, evmWallet, type EvmAddress } from "#domain/values/Caip.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { PermissionId } from "#domain/account/Authorization.ts"
import { NoAttestor } from "#layers/attestor/PriceAttestorLive.ts"
import { accountDeployment } from "#layers/evm/account/kernelAccount.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { EvmLive } from "#layers/evm/EvmLive.ts"
import { enableDigestOf, ownersAccount } from "#test/layers/evm/account/sdkAccount.ts"
import {
  EvmWorld,
  EvmWorldLive,
  accountOn,
  agent,
  asset,
  configFor,
  enroll,
  owner,
  stranger,
  withdrawalDomainName
} from "#test/layers/evm/EvmWorld.ts"

const secp256k1Order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The adapter with endpoints at which nothing listens. */
const withoutChains = Layer.unwrap(
  Effect.map(EvmWorld, ({ arbitrum, base }) =>
    Layer.fresh(EvmLive).pipe(
      Layer.provide(NoAttestor),
      Layer.provide(
        Layer.succeed(
          EvmConfig,
          configFor([base, arbitrum], () => "http://127.0.0.1:1")
        )
      ),
      Layer.provide(SecureRandom.layerWebCrypto)
    )
  )
)

describe("SmartAccounts", () => {
  layer(EvmWorldLive, { excludeTestServices: true })((it) => {
    it.effect("computes without any chain what the SDK computes with them", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const enrollment = yield* enroll(7n, [
          [base, "USDC", "WETH", "AERO"],
          [arbitrum, "USDC", "ARB"]
        ]).pipe(Effect.provide(withoutChains))
        const { authorization } = enrollment
        assert.strictEqual(addressOf(authorization.agentAccountId) as string, agent.address)
        const digests: Array<Hex> = []
        for (const chain of [base, arbitrum]) {
          const account = yield* Effect.promise(() =>
            ownersAccount(chain, addressToEmptyAccount(owner.address) as LocalAccount, 7n)
          )
          assert.strictEqual(account.address, enrollment.account as string)
          const { factory, factoryData } = yield* Effect.promise(() => account.getFactoryArgs())
          assert.deepStrictEqual(accountDeployment(authorization), {
            factory: factory!,
            factoryData: factoryData!.toLowerCase() as Hex
          })
          const digest = yield* Effect.promise(() => enableDigestOf(chain, enrollment))
          assert.strictEqual(digest, authorization.chains.find(({ chainId }) => chainId === chain.chainId)!.digest)
          digests.push(digest)
        }
        assert.strictEqual(authorization.root, new MerkleTree(digests, keccak256, { sortPairs: true }).getHexRoot())
      })
    )

    it.effect("gives one address on every chain, another to each index and owner", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const both = yield* enroll(1n, [
          [base, "USDC"],
          [arbitrum, "USDC"]
        ])
        assert.strictEqual(addressOf(accountOn(both, base)), addressOf(accountOn(both, arbitrum)))
        assert.strictEqual(chainIdOf(accountOn(both, arbitrum)), 42161)
        const next = yield* enroll(2n, [[base, "USDC"]])
        assert.notStrictEqual(next.account, both.account)
        assert.strictEqual(next.authorization.root, next.authorization.chains[0].digest)
      })
    )

    it.effect("never names a permission twice", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const ids = yield* Effect.forEach(Array.from({ length: 50 }), () =>
          Effect.map(enroll(1n, [[base, "USDC"]]), ({ authorization }) => authorization.chains[0].permissionId)
        )
        assert.strictEqual(new Set(ids).size, 50)
        assert.notInclude(ids, PermissionId.make("0x00000000"))
      })
    )

    it.effect("accepts the owner's signature alone, in the forms that wallets send", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const accounts = yield* SmartAccounts
        const { authorization, ownerSignature } = yield* enroll(3n, [[base, "USDC"]])
        const root = authorization.root as Hex
        const { r, s, yParity } = parseSignature(ownerSignature as Hex)
        const isSigned = (signature: string) => accounts.isSignedByOwner(authorization, signature)
        assert.isTrue(yield* isSigned(ownerSignature))
        assert.isTrue(yield* isSigned(`0x${ownerSignature.slice(2).toUpperCase()}`))
        assert.isTrue(yield* isSigned(`${ownerSignature.slice(0, -2)}0${yParity}`))
        const mirrored = secp256k1Order - BigInt(s)
        const refused = [
          "",
          "0x",
          "hello",
          ownerSignature.slice(0, -2),
          `${ownerSignature}00`,
          `${ownerSignature.slice(0, -2)}ff`,
          `0x${"00".repeat(65)}`,
          `0x${"ff".repeat(65)}`,
          serializeSignature({ r, s: `0x${mirrored.toString(16).padStart(64, "0")}`, yParity: 1 - yParity }),
          yield* Effect.promise(() => stranger.signMessage({ message: { raw: root } })),
          yield* Effect.promise(() => owner.signMessage({ message: root })),
          yield* Effect.promise(() => owner.sign({ hash: root }))
        ]
        for (const signature of refused) assert.isFalse(yield* isSigned(signature), signature)
        const textSigned = yield* Effect.promise(() => owner.signMessage({ message: root }))
        const isText = (text: string, signature: string) =>
          accounts.isTextSignedByOwner(authorization.ownerAccountId, text, signature)
        assert.isTrue(yield* isText(root, textSigned))
        for (const signature of [ownerSignature, "hello", ...refused.slice(0, -2)])
          assert.isFalse(yield* isText(root, signature), signature)
        assert.isFalse(yield* isText("another text", textSigned))
      })
    )

    it.effect("refuses as a defect what the domain must have checked", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const accounts = yield* SmartAccounts
        const unknown = accounts.authorize({
          accountType: "ECDSA",
          ownerAccountId: evmWallet(owner.address as string as EvmAddress),
          accountIndex: 0n,
          withdrawalDomainName,
          chains: [{ chainId: ChainId.make(1), assets: [asset(base, "USDC")] }]
        })
        const exit = yield* Effect.exit(unknown)
        assert.strictEqual(exit._tag, "Failure")
      })
    )
  })
})
