/** Owners that are contracts: asked off chain when they enroll, and on chain when the agent first acts. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type Address, getAddress, hashTypedData, type Hex, type LocalAccount, type TypedDataDefinition } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { type EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import { ownerMessage, typedDataMessage } from "#domain/account/OwnerMessage.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { type Chain } from "#sandbox/chain/Chain.ts"
import { type Call, domainOf, newAuthorization, signed, submitCall, verdict } from "#test/solidity/withdrawals.ts"
import {
  type Enrollment,
  EvmWorld,
  EvmWorldLive,
  adapterFor,
  asset,
  batchOf,
  chainIdOf,
  configFor,
  execute,
  fund,
  owner,
  quotedSwap,
  stranger,
  withdrawalDomainName
} from "#test/layers/evm/EvmWorld.ts"
import { ownersAccount } from "#test/layers/evm/account/sdkAccount.ts"
import { balance, deployAccount, dollars } from "#test/layers/evm/tradingAccount.ts"
import { deployContractWallet } from "#test/support/contractWallet.ts"
import { addressOf } from "#layers/evm/address.ts"
import { viemTypedData } from "#test/layers/evm/viemTypedData.ts"

const walletOf = (address: Address) => evmWallet(getAddress(address) as string as EvmAddress)

/** Everything but the owner's signature. */
const authorize = Effect.fnUntraced(function* (chain: Chain, address: Address, accountIndex = 0n) {
  const accounts = yield* SmartAccounts
  return yield* accounts.authorize({
    accountType: "ERC1271",
    ownerAccountId: walletOf(address),
    accountIndex,
    withdrawalDomainName,
    chains: [{ chainId: chainIdOf(chain), assets: ["USDC", "WETH", "AERO"].map((symbol) => asset(chain, symbol)) }]
  })
})

const newWallet = (chain: Chain) => Effect.promise(() => deployContractWallet(chain.rpcUrl))

const enrollWallet = Effect.fnUntraced(function* (
  chain: Chain,
  wallet: { readonly address: Address; readonly signTypedData: (data: TypedDataDefinition) => Promise<Hex> }
) {
  const authorization = yield* authorize(chain, wallet.address)
  const { typedData } = typedDataMessage(authorization)
  const ownerSignature = yield* Effect.promise(() => wallet.signTypedData(viemTypedData(typedData)))
  const account = addressOf(authorization.chains[0].accountId)
  yield* fund(chain, account, { symbol: "USDC", raw: dollars(100n) })
  return { authorization, ownerSignature, account } satisfies Enrollment
})

const swapOn = (chain: Chain) => quotedSwap(chain, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })

/** The adapter with endpoints at which nothing listens. */
const withoutChains = Layer.unwrap(
  Effect.map(EvmWorld, ({ arbitrum, base }) => adapterFor(configFor([base, arbitrum], () => "http://127.0.0.1:1")))
)

describe("An owner that is a contract", () => {
  layer(EvmWorldLive, { excludeTestServices: true })((it) => {
    it.effect("signs typed data of its account on its chain, and nothing else is its signature", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const accounts = yield* SmartAccounts
        const wallet = yield* newWallet(base)
        const authorization = yield* authorize(base, wallet.address)
        const message = ownerMessage(authorization)
        assert.strictEqual(message.kind, "typed-data")
        if (message.kind !== "typed-data") return
        assert.deepStrictEqual(message.typedData.domain, {
          name: "Kernel",
          version: "0.3.1",
          chainId: chainIdOf(base),
          verifyingContract: addressOf(authorization.chains[0].accountId)
        })
        const signature = yield* Effect.promise(() => wallet.signTypedData(message.typedData))
        const isSigned = (bytes: string) => accounts.isSignedByOwner(authorization, bytes)
        assert.isTrue(yield* isSigned(signature))
        assert.isTrue(yield* isSigned(`0x${signature.slice(2).toUpperCase()}`))
        const other = yield* authorize(base, wallet.address, 1n)
        const refused = yield* Effect.promise(() =>
          Promise.all([
            wallet.signTypedData(typedDataMessage(other).typedData),
            wallet.signer.signMessage({ message: { raw: authorization.root as Hex } }),
            stranger.signTypedData(viemTypedData(message.typedData)),
            Promise.resolve("0x"),
            Promise.resolve("hello"),
            Promise.resolve("0x123"),
            Promise.resolve(`0x${"00".repeat(65)}`),
            Promise.resolve(`0x${"ab".repeat(4_097)}`)
          ])
        )
        for (const bytes of refused) assert.isFalse(yield* isSigned(bytes), bytes.slice(0, 20))
      })
    )

    it.effect("a contract that does not check signatures has not signed", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const accounts = yield* SmartAccounts
        for (const address of [base.contracts.multicall3, base.contracts.weth, stranger.address]) {
          const authorization = yield* authorize(base, address)
          const signature = yield* Effect.promise(() =>
            stranger.signTypedData(viemTypedData(typedDataMessage(authorization).typedData))
          )
          assert.isFalse(yield* accounts.isSignedByOwner(authorization, signature))
        }
      })
    )

    it.effect("is a contract where it is deployed; a chain that does not answer is not taken for a no", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const accounts = yield* SmartAccounts
        const wallet = yield* newWallet(base)
        assert.isTrue(yield* accounts.isContract(walletOf(wallet.address), chainIdOf(base)))
        assert.isFalse(yield* accounts.isContract(walletOf(wallet.address), chainIdOf(arbitrum)))
        assert.isFalse(yield* accounts.isContract(walletOf(owner.address), chainIdOf(base)))
        const authorization = yield* authorize(base, wallet.address)
        const signature = yield* Effect.promise(() => wallet.signTypedData(typedDataMessage(authorization).typedData))
        yield* Effect.gen(function* () {
          const unreachable = yield* SmartAccounts
          const questions = [
            unreachable.isContract(walletOf(wallet.address), chainIdOf(base)),
            unreachable.isSignedByOwner(authorization, signature)
          ]
          for (const question of questions) {
            const error = yield* Effect.flip(question)
            assert.strictEqual(error._tag, "VerifierUnavailable")
            assert.notInclude(error.message, "127.0.0.1")
          }
        }).pipe(Effect.provide(withoutChains))
      })
    )

    it.effect("one signature takes the account through its first and later operations", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* enrollWallet(base, yield* newWallet(base))
        const first = yield* execute(batchOf(enrollment, base, [yield* swapOn(base)]))
        assert.isTrue(first.receipt.success)
        const second = yield* execute(batchOf(enrollment, base, [yield* swapOn(base)]))
        assert.isTrue(second.receipt.success)
        assert.strictEqual(yield* balance(base, "USDC", enrollment.account), dollars(80n))
        assert.isAbove(Number(yield* balance(base, "WETH", enrollment.account)), 0)
      })
    )

    it.effect("rules on chain: what it no longer stands by enables nothing", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* SwapBatches
        const wallet = yield* newWallet(base)
        const enrollment = yield* enrollWallet(base, wallet)
        yield* Effect.promise(() => wallet.replaceSigner(stranger.address))
        const batch = batchOf(enrollment, base, [yield* swapOn(base)])
        const refused = yield* Effect.flip(execution.prepare(batch))
        assert.match(refused.message, /AA23/u)
      })
    )

    it.effect("may be an account that wraps signatures once more, as wallets do", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const accounts = yield* SmartAccounts
        const key = privateKeyToAccount(generatePrivateKey())
        const kernel = yield* Effect.promise(() => ownersAccount(base, key as LocalAccount, 0n))
        const own = yield* accounts.authorize({
          accountType: "ECDSA",
          ownerAccountId: walletOf(key.address),
          accountIndex: 0n,
          withdrawalDomainName,
          chains: [{ chainId: chainIdOf(base), assets: [] }]
        })
        yield* deployAccount(base, own)
        const wallet = {
          address: kernel.address,
          signTypedData: (data: TypedDataDefinition) => kernel.signTypedData(data)
        }
        const enrollment = yield* enrollWallet(base, wallet)
        assert.isTrue(yield* accounts.isSignedByOwner(enrollment.authorization, enrollment.ownerSignature))
        const { receipt } = yield* execute(batchOf(enrollment, base, [yield* swapOn(base)]))
        assert.isTrue(receipt.success)
      })
    )

    it.effect("withdraws by its signature, which it may take back", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const wallet = yield* newWallet(base)
        const enrollment = yield* enrollWallet(base, wallet)
        yield* execute(batchOf(enrollment, base, [yield* swapOn(base)]))
        const account = enrollment.account as string as Address
        const domain = domainOf(base, account, "1")
        const withdrawal = Effect.fnUntraced(function* () {
          const authorization = yield* newAuthorization(base, getAddress(stranger.address))
          const signature = yield* Effect.promise(() => signed(wallet.signer, domain, authorization))
          return { functionName: "withdraw", args: [account, authorization, signature] } satisfies Call
        })
        const held = yield* balance(base, "USDC", stranger.address as string as EvmAddress)
        assert.strictEqual((yield* submitCall(base, stranger, yield* withdrawal())).status, "success")
        assert.strictEqual((yield* balance(base, "USDC", stranger.address as string as EvmAddress)) - held, 10_000_000n)
        const late = yield* withdrawal()
        yield* Effect.promise(() => wallet.replaceSigner(owner.address))
        assert.strictEqual(yield* verdict(base, stranger.address, late), "NotSignedByOwner")
      })
    )

    it.effect("its digest is that of the validator", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const authorization = yield* authorize(base, (yield* newWallet(base)).address)
        const { typedData } = typedDataMessage(authorization)
        const digest = yield* Effect.promise(() =>
          base.client.readContract({
            address: base.contracts.erc1271OwnerValidator,
            abi: [
              {
                type: "function",
                name: "digestOf",
                stateMutability: "view",
                inputs: [
                  { name: "account", type: "address" },
                  { name: "hash", type: "bytes32" }
                ],
                outputs: [{ type: "bytes32" }]
              }
            ] as const,
            functionName: "digestOf",
            args: [typedData.domain.verifyingContract as Address, typedData.message.hash as Hex]
          })
        )
        assert.strictEqual(digest, hashTypedData(viemTypedData(typedData)))
      })
    )
  })
})
