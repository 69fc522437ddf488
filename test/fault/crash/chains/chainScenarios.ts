/**
 * What owners do every day, on real chains: a rebalance, value that moves between chains, and all kinds of withdrawal.
 */
import { Keypair } from "@solana/web3.js"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { bytesToHex, encodeFunctionData, type Hex, parseAbi } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import * as Base58 from "#domain/values/Base58.ts"
import {
  type ChainId,
  chainIdOf,
  type AccountId,
  type EvmAddress,
  evmWallet,
  solanaAccount,
  type SolanaWalletId
} from "#domain/values/Caip.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { withdrawalText } from "#domain/withdrawal/withdrawalText.ts"
import * as Ed25519 from "#layers/solana/ed25519.ts"
import { splCatalog, usdc } from "#sandbox/assets/splCatalog.ts"
import { typedDataOf } from "#domain/withdrawal/signedForm.ts"
import { PermissionId } from "#domain/account/Authorization.ts"
import { makeClient } from "#sandbox/chain/Anvil.ts"
import { operate } from "#sandbox/chain/operate.ts"
import { chainAsset, type ChainsConfig, type SolanaPortfolio } from "#test/fault/crash/chains/ChainsConfig.ts"
import { chainsWorld } from "#test/fault/crash/chains/chainsWorld.ts"
import { submitted } from "#test/fault/crash/marketScenarios.ts"
import type { Begun } from "#test/fault/crash/Scenario.ts"
import { acceptWithdrawal, messageOf } from "#test/support/acceptedWithdrawal.ts"
import { storedPortfolio } from "#test/support/enrolledPortfolio.ts"
import { addressOf } from "#layers/evm/address.ts"
import { viemTypedData } from "#test/layers/evm/viemTypedData.ts"

const base = 8453 as ChainId
const arbitrum = 42161 as ChainId
const symbols = ["WETH", "USDC"]
const withdrawalDomainName = "Ballast Withdrawal Authorization"
const treasuryAbi = parseAbi(["function issue(address token, address account, uint256 amount)"])
const fifthOfAnEther = 10n ** 18n / 5n
const solanaWallet = (key: string) => solanaAccount(key) as string as SolanaWalletId
const solanaTokens = splCatalog.filter(({ symbol }) => symbol === "USDC" || symbol === "JUP")
const dollars = (whole: bigint) => whole * 1_000_000n

const makeSteps = (config: ChainsConfig) => {
  /** Accounts of a new owner on both chains, 30 percent WETH and 20 percent USDC on each. */
  const enrolled = Effect.gen(function* () {
    const accounts = yield* SmartAccounts
    const random = yield* SecureRandom.SecureRandom
    const assets = [base, arbitrum].map((chainId) => symbols.map((symbol) => chainAsset(chainId, symbol)))
    const owner = privateKeyToAccount(bytesToHex(yield* random.randomBytes(32)))
    const authorization = yield* accounts.authorize({
      accountType: "ECDSA",
      ownerAccountId: evmWallet(owner.address as string as EvmAddress),
      accountIndex: 0n,
      withdrawalDomainName,
      chains: assets.map((ofChain) => ({
        chainId: ofChain[0]!.chainId,
        assets: ofChain.map(({ assetId }) => assetId)
      }))
    })
    const ownerSignature = yield* Effect.promise(() =>
      owner.signMessage({ message: { raw: authorization.root as Hex } })
    )
    const allocation = assets
      .flat()
      .map(({ assetId, symbol }) => ({ assetId, weight: symbol === "WETH" ? 3000 : 2000 }))
    const stored = yield* storedPortfolio({ assets: assets.flat(), allocation, authorization, ownerSignature })
    return { ...stored, owner, accounts: authorization.chains.map(({ accountId }) => accountId) }
  })

  const fund = (account: AccountId, symbol: string, raw: bigint) => {
    const chainId = chainIdOf(account)
    const { rpcUrl, treasury } = config.chains.find((chain) => chain.chainId === chainId)!
    return operate(makeClient(chainId, rpcUrl), {
      what: `fund ${account}`,
      to: treasury as string as Hex,
      data: encodeFunctionData({
        abi: treasuryAbi,
        functionName: "issue",
        args: [
          addressOf(chainAsset(chainId, symbol).assetId) as string as Hex,
          addressOf(account) as string as Hex,
          raw
        ]
      })
    })
  }

  // Little enough that the trades of others at the same time move the pools less than a trade may slip.
  const rebalance = (funded: ReadonlyArray<number>) =>
    Effect.gen(function* () {
      const { accounts, portfolioId, tenantId } = yield* enrolled
      for (const index of funded) yield* fund(accounts[index]!, "USDC", dollars(2_000n))
      return yield* submitted(tenantId, portfolioId, accounts)
    })

  const withdrawal = (liquidate: boolean) =>
    Effect.gen(function* () {
      const portfolio = yield* enrolled
      const account = portfolio.accounts[0]!
      yield* fund(account, "USDC", dollars(500n))
      yield* fund(account, "WETH", fifthOfAnEther)
      const assets = liquidate
        ? ([[chainAsset(base, "WETH").assetId, fifthOfAnEther]] as const)
        : ([[chainAsset(base, "USDC").assetId, dollars(200n)]] as const)
      const message = yield* messageOf(portfolio, account, { assets, changes: liquidate ? { liquidate } : {} })
      const typedData = typedDataOf(message, withdrawalDomainName, account)
      const signature = yield* Effect.promise(() => portfolio.owner.signTypedData(viemTypedData(typedData)))
      const { rpcUrl } = config.chains.find(({ chainId }) => chainId === base)!
      const acceptedAtBlock = yield* Effect.promise(() => makeClient(base, rpcUrl).getBlockNumber())
      const operationId = yield* acceptWithdrawal(
        portfolio,
        { accountId: account, message },
        { signature, acceptedAtBlock }
      )
      const { portfolioId, tenantId } = portfolio
      return { tenantId, portfolioId, operationId, kind: "withdraw", accounts: [account] } satisfies Begun
    })

  const solanaPortfolio = Effect.gen(function* () {
    const made = (yield* Effect.promise(async () =>
      (await fetch(config.solana.portfoliosUrl)).json()
    )) as SolanaPortfolio
    const account = solanaAccount(made.deposit)
    const root = `0x${"5a".repeat(32)}`
    const portfolio = yield* storedPortfolio({
      assets: solanaTokens.map(({ assetId, decimals, name, symbol }) => ({
        assetId,
        chainId: chainIdOf(account),
        symbol,
        name,
        decimals,
        isBlocked: false
      })),
      allocation: solanaTokens.map(({ assetId }) => ({ assetId, weight: 5_000 })),
      authorization: {
        _tag: "Solana",
        accountType: "ECDSA",
        ownerAccountId: solanaWallet(made.owner),
        accountIndex: 0n,
        withdrawalDomainName,
        agentAccountId: solanaWallet(made.agent),
        chains: [
          {
            chainId: chainIdOf(account),
            accountId: account,
            permissionId: PermissionId.make("0x00000001"),
            policy: { _tag: "Solana", walletId: made.walletId, roleId: made.roleId },
            digest: root
          }
        ],
        root
      },
      ownerSignature: ""
    })
    return { ...portfolio, account, made }
  })

  const solanaRebalance = Effect.gen(function* () {
    const { account, portfolioId, tenantId } = yield* solanaPortfolio
    return yield* submitted(tenantId, portfolioId, [account])
  })

  const solanaWithdrawal = Effect.gen(function* () {
    const { account, made, ...portfolio } = yield* solanaPortfolio
    const recipientAccountId = solanaAccount(Keypair.generate().publicKey.toBase58())
    const message = yield* messageOf(portfolio, account, {
      assets: [[usdc.assetId, 40n]],
      changes: { recipientAccountId }
    })
    const text = new TextEncoder().encode(withdrawalText(withdrawalDomainName, message))
    const signature = Base58.encode(Ed25519.sign(Buffer.from(made.ownerSeed, "hex"), text))
    const operationId = yield* acceptWithdrawal(portfolio, { accountId: account, message }, { signature })
    const { portfolioId, tenantId } = portfolio
    return { tenantId, portfolioId, operationId, kind: "withdraw", accounts: [account] } satisfies Begun
  })

  return {
    "a rebalance on two chains": { begin: rebalance([0, 1]), operations: 1, isConnected: false },
    "a rebalance on chains whose first nodes lag": {
      begin: rebalance([0, 1]),
      operations: 1,
      isConnected: false,
      lags: true
    },
    "a transfer between two chains": { begin: rebalance([0]), operations: 3, isConnected: true },
    "a withdrawal": { begin: withdrawal(false), operations: 1, isConnected: false },
    "a liquidation": { begin: withdrawal(true), operations: 1, isConnected: false },
    "a rebalance on Solana": { begin: solanaRebalance, operations: 1, isConnected: false },
    "a withdrawal from Solana": { begin: solanaWithdrawal, operations: 1, isConnected: false }
  }
}

export type ChainScenario = keyof ReturnType<typeof makeSteps>

export const chainScenarioNames: ReadonlyArray<ChainScenario> = [
  "a rebalance on two chains",
  "a rebalance on chains whose first nodes lag",
  "a transfer between two chains",
  "a withdrawal",
  "a liquidation",
  "a withdrawal from Solana"
]

/** The scenario with the world that it happens in. */
export const chainScenario = (name: ChainScenario, config: ChainsConfig) => {
  const { isConnected, ...scenario } = makeSteps(config)[name]
  return { ...scenario, world: chainsWorld(config, { isConnected, lags: "lags" in scenario }) }
}
