/** Withdrawals on real chains: what stage 2 would have stored, signed by a real owner, and how it is submitted. */
import { DateTime, Effect, Layer, Schedule } from "effect"
import { type Hex, keccak256, toHex, type TypedDataDefinition } from "viem"
import { type AssetId, ChainId, chainIdOf, type EvmAddress, evmAccount } from "#domain/values/Caip.ts"
import { Assets } from "#domain/asset/Assets.ts"
import { Prices } from "#domain/market/Prices.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { asTransaction, type PreparedTransaction } from "#domain/relay/Transaction.ts"
import { Liquidator } from "#domain/withdrawal/Liquidator.ts"
import { typedDataOf } from "#domain/withdrawal/signedForm.ts"
import { WithdrawalTransactions } from "#domain/withdrawal/WithdrawalTransactions.ts"
import type { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"
import { FamiliesLive } from "#layers/FamiliesLive.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import {
  accountOn,
  type Enrollment,
  EvmWorld,
  EvmWorldLive,
  GuardedWorldLive,
  owner,
  token
} from "#test/layers/evm/EvmWorld.ts"
import { TestSettings } from "#test/support/settings.ts"
import { viemTypedData } from "#test/layers/evm/viemTypedData.ts"

const unset = { slippageBps: null, priceImpactBps: null, thresholdUsd: null }

export const recipient = "0x8617E340B3D01FA5F11F306F4090FD50E238070D" as EvmAddress

let nonces = 0

export interface WithdrawalOptions {
  readonly assets: ReadonlyArray<readonly [symbol: string, raw: bigint]>
  readonly liquidate?: boolean
  /** Seconds from the chain's present. */
  readonly expiresIn?: number
  readonly to?: EvmAddress
  /** Instead of the owner's key. */
  readonly sign?: (typedData: TypedDataDefinition) => Promise<Hex>
}

export const typedDataFor = ({ accountId, grant, message }: StoredWithdrawal) =>
  typedDataOf(message, grant.authorization.withdrawalDomainName!, accountId)

/** A withdrawal from the account on the chain, signed by the owner. */
export const signedWithdrawal = Effect.fnUntraced(function* (
  enrollment: Enrollment,
  chain: Chain,
  { assets, expiresIn = 600, liquidate = false, sign, to = recipient }: WithdrawalOptions
) {
  const accountId = accountOn(enrollment, chain)
  const block = yield* Effect.promise(() => chain.client.getBlock())
  nonces += 1
  const message: WithdrawalMessage = {
    portfolioId: "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8" as PortfolioId,
    recipientAccountId: evmAccount(chainIdOf(accountId), to),
    assets: assets.map(([symbol, raw]) => ({
      assetId: `eip155:${chain.chainId}/erc20:${token(chain, symbol)}` as AssetId,
      amountRaw: raw.toString()
    })),
    nonce: keccak256(toHex(`withdrawal nonce ${nonces}`)),
    expiresAt: Number(block.timestamp) + expiresIn,
    ...(liquidate ? { liquidate } : {})
  }
  const unsigned: StoredWithdrawal = {
    message,
    signature: "0x",
    accountId,
    grant: enrollment,
    acceptedAtBlock: block.number,
    swap: { strategy: unset, tenant: unset, accepted: null }
  }
  const typedData = viemTypedData(typedDataFor(unsigned))
  const signature = yield* Effect.promise(() => (sign === undefined ? owner.signTypedData(typedData) : sign(typedData)))
  return { ...unsigned, signature }
})

/** Signs and sends what was prepared, and waits for what became of it. */
export const submit = Effect.fnUntraced(function* (withdrawal: StoredWithdrawal, prepared: PreparedTransaction) {
  const relayer = yield* Relayer
  const execution = yield* WithdrawalTransactions
  const signed = yield* relayer.sign(prepared, prepared.chainNonce)
  yield* relayer.broadcast(signed)
  return yield* execution
    .find(signed, withdrawal)
    .pipe(Effect.flatMap(Effect.fromOption), Effect.retry({ times: 3_000, schedule: Schedule.spaced("20 millis") }))
})

export const withdraw = Effect.fnUntraced(function* (withdrawal: StoredWithdrawal) {
  const execution = yield* WithdrawalTransactions
  return yield* submit(withdrawal, asTransaction(yield* execution.prepare(withdrawal)))
})

/** The catalogue and the prices of the chains' own tokens. */
const Market = Layer.unwrap(
  Effect.map(EvmWorld, ({ arbitrum, base }) => {
    const known = [base, arbitrum].flatMap(({ chainId, prices, tokens }) =>
      tokens.map(({ assetId, decimals, symbol }) => ({
        asset: {
          assetId: assetId as AssetId,
          chainId: ChainId.make(chainId),
          symbol,
          name: symbol,
          decimals,
          isBlocked: false
        },
        price: () => prices.price(assetId)
      }))
    )
    const assets = Assets.of({
      find: (ids) =>
        Effect.succeed(
          new Map(known.flatMap(({ asset }) => (ids.includes(asset.assetId) ? [[asset.assetId, asset] as const] : [])))
        ),
      onChain: (chainId) => Effect.succeed(known.flatMap(({ asset }) => (asset.chainId === chainId ? [asset] : [])))
    })
    const prices = Prices.of({
      latest: (ids) =>
        Effect.map(
          DateTime.now,
          (asOf) =>
            new Map(
              known.flatMap(({ asset, price }) =>
                ids.includes(asset.assetId) ? [[asset.assetId, { usd: price(), asOf }] as const] : []
              )
            )
        )
    })
    return Layer.merge(Layer.succeed(Assets, assets), Layer.succeed(Prices, prices))
  })
)

const withdrawalsIn = (world: typeof EvmWorldLive) =>
  Liquidator.layer.pipe(Layer.provide([Market, FamiliesLive, TestSettings]), Layer.provideMerge(world))

/** The adapter's ports and the liquidator over real chains. */
export const WithdrawalWorldLive = withdrawalsIn(EvmWorldLive)

/** World of accounts under the guard. */
export const GuardedWithdrawalWorldLive = withdrawalsIn(GuardedWorldLive)

/** Moves the chain's time beyond the withdrawal's expiry. */
export const expire = (chain: Chain, { message }: StoredWithdrawal) =>
  Effect.promise(async () => {
    const { timestamp } = await chain.client.getBlock()
    await chain.client.increaseTime({ seconds: message.expiresAt - Number(timestamp) + 1 })
    await chain.client.mine({ blocks: 1 })
  })

/** Why the adapter does not prepare the withdrawal. */
export const refusedBecause = (withdrawal: StoredWithdrawal) =>
  Effect.flatMap(WithdrawalTransactions, (execution) => execution.prepare(withdrawal)).pipe(
    Effect.flip,
    Effect.map((error) => (error._tag === "SimulationFailed" ? error.reason : error._tag))
  )
