/** Who stands by a sign-in message on a real chain: a key, a contract, a contract that is yet to be deployed. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { type Address, concat, encodeDeployData, getAddress, getContractAddress, type Hex, pad } from "viem"
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts"
import { createSiweMessage } from "viem/siwe"
import { serializeErc6492Signature } from "viem/utils"
import { readSignInMessage } from "#domain/identity/siwe/readSignInMessage.ts"
import { SignInVerifier } from "#domain/identity/SignInVerifier.ts"
import { loadContracts } from "#sandbox/chain/Contracts.ts"
import { adapterFor, configFor, EvmWorld, EvmWorldLive } from "#test/layers/evm/EvmWorld.ts"
import { deployContractWallet } from "#test/support/contractWallet.ts"

/**
 * Where every chain has a factory that deploys whatever it is sent, at an address of its content. Source: EIP-7955's
 * forerunner.
 */
const anyFactory = "0x4e59b44847b379578588920ca78fbf26c0b4956c"

const messageOf = (address: Address, chainId: number) =>
  createSiweMessage({
    address,
    chainId,
    domain: "app.example.com",
    uri: "https://app.example.com",
    version: "1",
    nonce: "0123456789abcdef",
    issuedAt: new Date("2026-03-01T12:00:00.000Z")
  })

const signerOf = Effect.fnUntraced(function* (text: string, signature: string) {
  const verifier = yield* SignInVerifier
  return yield* verifier.signerOf(Result.getOrThrow(readSignInMessage(text)), text, signature)
})

const signs = (signer: PrivateKeyAccount, message: string) => Effect.promise(() => signer.signMessage({ message }))

const newKey = () => privateKeyToAccount(generatePrivateKey())

/** A wallet that anybody could deploy and nobody has. */
const undeployed = Effect.gen(function* () {
  const { abi, creation } = (yield* loadContracts).own("ContractWallet")
  const signer = newKey()
  const bytecode = encodeDeployData({ abi, bytecode: creation, args: [signer.address] })
  const salt = pad("0x01", { size: 32 })
  const address = getContractAddress({ opcode: "CREATE2", from: anyFactory, salt, bytecode })
  const wrap = (signature: Hex) =>
    serializeErc6492Signature({ address: anyFactory, data: concat([salt, bytecode]), signature })
  return { address, signer, wrap }
})

describe("SignInVerifier", () => {
  layer(EvmWorldLive, { excludeTestServices: true })((it) => {
    it.effect("a key signs for its address on every chain, without any chain being asked", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const key = newKey()
        const text = messageOf(key.address, 1)
        const signature = yield* signs(key, text)
        const silent = adapterFor(configFor([base], () => "http://127.0.0.1:1"))
        assert.strictEqual(yield* Effect.provide(signerOf(text, signature), silent), `eip155:0:${key.address}`)
      })
    )

    it.effect("a contract signs for its address on the message's chain, and nowhere else", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const wallet = yield* Effect.promise(() => deployContractWallet(base.rpcUrl))
        const text = messageOf(wallet.address, 8453)
        const walletId = `eip155:8453:${getAddress(wallet.address)}`
        assert.strictEqual(yield* signerOf(text, yield* signs(wallet.signer, text)), walletId)
        assert.isUndefined(yield* signerOf(text, yield* signs(newKey(), text)))
        const elsewhere = messageOf(wallet.address, 42161)
        assert.isUndefined(yield* signerOf(elsewhere, yield* signs(wallet.signer, elsewhere)))
        const unserved = messageOf(wallet.address, 1)
        assert.isUndefined(yield* signerOf(unserved, yield* signs(wallet.signer, unserved)))
        yield* Effect.promise(() => wallet.replaceSigner(newKey().address))
        assert.isUndefined(yield* signerOf(text, yield* signs(wallet.signer, text)))
      })
    )

    it.effect("a contract that is yet to be deployed signs by ERC-6492", () =>
      Effect.gen(function* () {
        const { address, signer, wrap } = yield* undeployed
        const text = messageOf(address, 8453)
        const signature = yield* signs(signer, text)
        assert.strictEqual(yield* signerOf(text, wrap(signature)), `eip155:8453:${address}`)
        assert.isUndefined(yield* signerOf(text, signature))
        assert.isUndefined(yield* signerOf(text, wrap(yield* signs(newKey(), text))))
        const other = yield* undeployed
        const theirs = messageOf(other.address, 8453)
        assert.isUndefined(yield* signerOf(theirs, wrap(yield* signs(signer, theirs))), "another address is deployed")
      })
    )

    it.effect("a chain that cannot be asked refuses nobody: it is said that it cannot be asked", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const wallet = yield* Effect.promise(() => deployContractWallet(base.rpcUrl))
        const text = messageOf(wallet.address, 8453)
        const signature = yield* signs(wallet.signer, text)
        const silent = adapterFor(configFor([base], () => "http://127.0.0.1:1"))
        const failure = yield* Effect.flip(Effect.provide(signerOf(text, signature), silent))
        assert.strictEqual(failure._tag, "VerifierUnavailable")
      })
    )
  })
})
