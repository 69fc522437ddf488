/** Balances of accounts before and after, and an account that trades already: what the suites of execution share. */
import { Effect, Schema } from "effect"
import { type Address, erc20Abi, type Hex } from "viem"
import { entryPoint07Address } from "viem/account-abstraction"
import type { EvmAddress } from "#domain/values/Caip.ts"
import type { Authorization } from "#domain/account/Authorization.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { accountDeployment } from "#layers/evm/account/kernelAccount.ts"
import { type Chain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { batchOf, enroll, EvmWorld, execute, fund, quotedSwap, stranger } from "#test/layers/evm/EvmWorld.ts"

export const dollars = (whole: bigint) => whole * 1_000_000n

export const balance = (chain: Chain, symbol: string, account: EvmAddress) =>
  Effect.promise(() =>
    chain.client.readContract({
      address: tokenBySymbol(chain, symbol).address,
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [account as string as Address]
    })
  )

export const balances = (chain: Chain, account: EvmAddress) =>
  Effect.forEach(chain.tokens, ({ assetId, symbol }) =>
    Effect.map(balance(chain, symbol, account), (raw) => ({ assetId, raw }))
  )

export const changes = (
  before: ReadonlyArray<{ readonly assetId: string; readonly raw: bigint }>,
  after: ReadonlyArray<{ readonly assetId: string; readonly raw: bigint }>
) =>
  new Map(
    after.map(({ assetId, raw }, index) => [assetId, raw - before[index]!.raw] as const).filter(([, raw]) => raw !== 0n)
  )

export const deltasOf = ({ deltas }: ActionReceipt) =>
  new Map(deltas.map(({ assetId, raw }) => [assetId as string, raw]))

export const submit = (
  chain: Chain,
  from: typeof stranger,
  { data, nonce }: { readonly data: Hex; readonly nonce?: number }
) =>
  Effect.promise(async () => {
    const hash = await chain.client.sendTransaction({
      account: from,
      to: entryPoint07Address,
      data,
      gas: 10_000_000n,
      ...(nonce === undefined ? {} : { nonce })
    })
    return chain.client.waitForTransactionReceipt({ hash })
  })

/** Puts the account on a chain before its first operation, as anybody may. */
export const deployAccount = (chain: Chain, authorization: Authorization) =>
  Effect.promise(async () => {
    const { factory, factoryData } = accountDeployment(authorization)
    const hash = await chain.client.sendTransaction({ account: stranger, to: factory, data: factoryData })
    const receipt = await chain.client.waitForTransactionReceipt({ hash })
    if (receipt.status !== "success") throw new Error("The account was not deployed")
    return receipt
  })

/** An account with 10,000 dollars on Base whose permission is enabled by a first swap. */
export const tradingAccount = Effect.fnUntraced(function* (index: bigint) {
  const { base } = yield* EvmWorld
  const enrollment = yield* enroll(index, [[base, "USDC", "WETH", "AERO"]])
  yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(10_000n) })
  yield* execute(
    batchOf(enrollment, base, [yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(100n) })])
  )
  return enrollment
})

/** What a value is after a trip through its encoded form. */
export const roundTrip = <S extends Schema.Codec<unknown, unknown>>(schema: S, value: S["Type"]) =>
  Effect.flatMap(Schema.encodeEffect(schema)(value), Schema.decodeUnknownEffect(schema))
