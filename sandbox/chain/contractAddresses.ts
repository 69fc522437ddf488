/** Where the world's contracts are on a chain: by their code alone, through the deterministic CREATE2 deployer. */
import { type Address, encodeDeployData, getCreate2Address, type Hex } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { create2Deployer, noSalt, ownContracts } from "#layers/evm/deployment/DeploymentTarget.ts"
import { runnerOf } from "#layers/evm/tradeGuard.ts"
import { canonical, guardKeys, operator } from "#sandbox/chain/canonical.ts"
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

const at = (bytecode: Hex) => getCreate2Address({ from: create2Deployer, salt: noSalt, bytecode })

/** Where the contracts of ours will be, by the tool that deploys them. */
const ownAddresses = (contracts: Contracts, { diamond, router }: { readonly diamond: Hex; readonly router: Hex }) => {
  const own = ownContracts({
    compiled: contracts.own,
    keys: guardKeys(null),
    file: { routedSwap: { target: at(diamond), router: at(router) } }
  })
  const of = (name: string) => own.find((contract) => contract.name === name)!.address
  return { routedSwap: of("RoutedSwap"), guard: of("TradeGuard") }
}

/** What each contract that a chain has before is created with. */
export const initCodes = (contracts: Contracts, chain: CatalogChain) => {
  const treasury = contracts.own("Treasury")
  const bridge = contracts.own("SpokePool")
  const factoryCode = encodeDeployData({
    abi: contracts.uniswapFactory.abi,
    bytecode: contracts.uniswapFactory.creation,
    args: [operator]
  })
  const router = encodeDeployData({
    abi: contracts.uniswapRouter.abi,
    bytecode: contracts.uniswapRouter.creation,
    args: [at(factoryCode), chain.weth.address]
  })
  const diamond = contracts.own("RouteDiamond").creation
  const routePools = contracts.own("RoutePools")
  const own = ownAddresses(contracts, { diamond, router })
  const manager = contracts.own("IssuerManager")
  return {
    own,
    factory: factoryCode,
    router,
    diamond,
    routePools: encodeDeployData({ abi: routePools.abi, bytecode: routePools.creation, args: [operator] }),
    issuerManager: encodeDeployData({
      abi: manager.abi,
      bytecode: manager.creation,
      args: [issuerSigner.address, issuerUserId, runnerOf(own.guard as string as EvmAddress), chain.usdc.address]
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
  return {
    ...canonical,
    weth: chain.weth.address,
    factory: at(codes.factory),
    router: at(codes.router),
    treasury: at(codes.treasury),
    bridge: at(codes.bridge),
    diamond: at(codes.diamond),
    routePools: at(codes.routePools),
    ...codes.own,
    issuerManager: at(codes.issuerManager)
  }
}
