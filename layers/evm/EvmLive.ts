/** Everything that the service does on EVM chains, from `EvmConfig` and a source of randomness. */
import { Layer } from "effect"
import { ArrivalsLive } from "#layers/evm/ArrivalsLive.ts"
import { BalancesLive } from "#layers/evm/BalancesLive.ts"
import { ChainExecutionLive } from "#layers/evm/ChainExecutionLive.ts"
import { ChainsLive } from "#layers/evm/ChainsLive.ts"
import { EvmClients } from "#layers/evm/EvmClients.ts"
import { RelayerFundsLive } from "#layers/evm/RelayerFundsLive.ts"
import { RelayerLive } from "#layers/evm/RelayerLive.ts"
import { SignersLive } from "#layers/evm/signer/SignersLive.ts"
import { SmartAccountsLive } from "#layers/evm/SmartAccountsLive.ts"
import { VenueLive } from "#layers/evm/VenueLive.ts"
import { WithdrawalExecutionLive } from "#layers/evm/withdrawal/WithdrawalExecutionLive.ts"
import { WithdrawalVerifierLive } from "#layers/evm/withdrawal/WithdrawalVerifierLive.ts"

/** Chains, SmartAccounts, Balances, Venue, ChainExecution, Relayer, RelayerFunds, Arrivals, WithdrawalExecution and WithdrawalVerifier. */
export const EvmLive = Layer.mergeAll(
  ChainsLive,
  SmartAccountsLive,
  BalancesLive,
  VenueLive,
  ChainExecutionLive,
  RelayerFundsLive.pipe(Layer.provideMerge(RelayerLive)),
  ArrivalsLive,
  WithdrawalExecutionLive,
  WithdrawalVerifierLive
).pipe(Layer.provide([EvmClients.layer, SignersLive]))
