/** Where the world's contracts are on a chain: by their code alone, through the deterministic CREATE2 deployer. */
import { type Address, encodeDeployData, getCreate2Address, type Hex, pad } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { runnerOf } from "#layers/evm/tradeGuard.ts"
import { canonical, create2Deployer, operator } from "#sandbox/chain/canonical.ts"
import type { Contracts } from "#sandbox/chain/Contracts.ts"
import { issuerSigner, issuerUserId } from "#sandbox/chain/issuer.ts"
import type { CatalogChain } from "#sandbox/assets/catalog.ts"

/** Addresses of what the world installed on a chain. */
export type ChainContracts = typeof canonical & {
  readonly weth: Address
  readonly factory: Address
  readonly router: Address
  readonly treasury: Address
  /** The stand-in of Across's pool: the bridge to the other chains. */
  readonly bridge: Address
  /** The stand-in of LI.FI's diamond, and the liquidity that only its routes reach. */
  readonly diamond: Address
  readonly routePools: Address
  /** Our contract in front of the diamond. */
  readonly routedSwap: Address
  /** Guard through which accounts of new permissions trade and send. */
  readonly guard: Address
  /** The stand-in of an issuer's contract, which knows the guard's runner as its customer. */
  readonly issuerManager: Address
}

export const noSalt = pad("0x0")

/** What each contract is created with. */
export const initCodes = (contracts: Contracts, chain: CatalogChain) => {
  const treasury = contracts.own("Treasury")
  const bridge = contracts.own("SpokePool")
  const factoryCode = encodeDeployData({
    abi: contracts.uniswapFactory.abi,
    bytecode: contracts.uniswapFactory.creation,
    args: [operator]
  })
  const at = (bytecode: Hex) => getCreate2Address({ from: create2Deployer, salt: noSalt, bytecode })
  const router = encodeDeployData({
    abi: contracts.uniswapRouter.abi,
    bytecode: contracts.uniswapRouter.creation,
    args: [at(factoryCode), chain.weth.address]
  })
  const diamond = contracts.own("RouteDiamond").creation
  const routePools = contracts.own("RoutePools")
  const routedSwap = contracts.own("RoutedSwap")
  const guard = contracts.own("TradeGuard")
  const guardCode = encodeDeployData({
    abi: guard.abi,
    bytecode: guard.creation,
    args: [operator, operator, canonical.withdrawalExecutor]
  })
  const manager = contracts.own("IssuerManager")
  return {
    factory: factoryCode,
    router,
    diamond,
    routePools: encodeDeployData({ abi: routePools.abi, bytecode: routePools.creation, args: [operator] }),
    routedSwap: encodeDeployData({
      abi: routedSwap.abi,
      bytecode: routedSwap.creation,
      args: [at(diamond), at(router)]
    }),
    guard: guardCode,
    issuerManager: encodeDeployData({
      abi: manager.abi,
      bytecode: manager.creation,
      args: [issuerSigner.address, issuerUserId, runnerOf(at(guardCode) as string as EvmAddress), chain.usdc.address]
    }),
    treasury: encodeDeployData({
      abi: treasury.abi,
      bytecode: treasury.creation,
      args: [operator, chain.weth.address]
    }),
    bridge: encodeDeployData({ abi: bridge.abi, bytecode: bridge.creation, args: [operator] })
  }
}

/** Where everything is, or will be, on a chain. */
export const contractAddresses = (contracts: Contracts, chain: CatalogChain): ChainContracts => {
  const codes = initCodes(contracts, chain)
  const at = (bytecode: Hex) => getCreate2Address({ from: create2Deployer, salt: noSalt, bytecode })
  return {
    ...canonical,
    weth: chain.weth.address,
    factory: at(codes.factory),
    router: at(codes.router),
    treasury: at(codes.treasury),
    bridge: at(codes.bridge),
    diamond: at(codes.diamond),
    routePools: at(codes.routePools),
    routedSwap: at(codes.routedSwap),
    guard: at(codes.guard),
    issuerManager: at(codes.issuerManager)
  }
}
