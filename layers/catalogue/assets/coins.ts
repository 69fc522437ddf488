/**
 * Coins of networks and tokens of protocols.
 *
 * Ids are fixed: they were drawn at random once and never change. Source of names: the tokens' own lists (see
 * `tokens/`).
 */

/** Symbol, name, canonical id. */
export const coins = [
  ["1INCH", "1inch", "006344dc-4e07-4859-838e-34771ea61b0e"],
  ["AAVE", "Aave", "04ac29ec-8b51-42b1-9ba5-20974ce4e290"],
  ["AERO", "Aerodrome Finance", "6e13247b-f142-4323-a0a5-4c82bc4201a5"],
  ["APE", "ApeCoin", "8ddf3826-832d-43d2-a271-088a47b39b98"],
  ["ARB", "Arbitrum", "71393cf7-1801-45b5-8319-523b93b7f83a"],
  ["AXS", "Axie Infinity", "fe1ae8e7-e637-42f1-adb2-1e633d1d8d15"],
  ["BAT", "Basic Attention Token", "64bca180-50e0-438c-861e-3076f482cd6e"],
  ["BNB", "BNB", "a2bdef7e-da99-4f80-8967-7661cd97e080"],
  ["BONK", "Bonk", "4e3297d6-cb01-4072-bfa9-d47396c7026d"],
  ["BTC", "Bitcoin", "c1e93180-79fc-43e3-b347-491ea2fd071e"],
  ["CAKE", "PancakeSwap", "0ba4fd54-ab19-42e4-88ff-391acb6508dc"],
  ["COMP", "Compound", "802624a6-0eb7-45f8-a6d0-3a0ff75849e5"],
  ["CRV", "Curve DAO", "e64c9333-0809-49ef-8aad-890d7a6792bb"],
  ["DEGEN", "Degen", "7ad51a16-3adc-4477-b45c-4869445fb24a"],
  ["EIGEN", "EigenLayer", "2986f1ba-e359-476d-8548-7915a81535cb"],
  ["ENA", "Ethena", "5976cf94-ee3e-49da-bc11-72fec3b882f3"],
  ["ENS", "Ethereum Name Service", "48bea55b-849c-49b0-983d-07177926ac9d"],
  ["ETH", "Ether", "e78cdd58-c840-420e-833a-75f754871ae4"],
  ["FET", "Fetch.ai", "679aad52-5caf-4c76-95d0-ccd42fb8f1df"],
  ["GMX", "GMX", "9283fe4c-7db6-4c0b-8094-3294f77505e4"],
  ["GRT", "The Graph", "12c0e005-9829-488a-ab00-b3679bec2dc5"],
  ["IMX", "Immutable X", "b2ea499f-d1cd-4653-b29a-62c3ef67843b"],
  ["JTO", "Jito", "fb290dae-b4a5-4cbf-891c-f8bfaf52352d"],
  ["JUP", "Jupiter", "d006adf9-234e-414b-a88e-d89379e1bebe"],
  ["LDO", "Lido DAO", "f6cc56ff-a72d-465b-b9ef-656abbd8333d"],
  ["LINK", "Chainlink", "9d27c98d-7522-47cd-9907-520703de5000"],
  ["MANA", "Decentraland", "115d990f-4ac0-4fa0-ad81-e74f7797979b"],
  ["MKR", "Maker", "94559d83-0446-4757-bcf1-5d0de4987389"],
  ["MORPHO", "Morpho", "ff44c109-1c5f-47b7-84a7-93131583a208"],
  ["ONDO", "Ondo Finance", "91c9c710-97ec-414c-a67f-25aadc0d1f8e"],
  ["PENDLE", "Pendle", "086676e3-504b-46ce-a3a2-5c47774130f6"],
  ["PEPE", "Pepe", "43417e51-79ff-401d-a13a-2cbe411b2dd4"],
  ["PYTH", "Pyth Network", "b2a40a4e-9343-499b-bd82-050a2d1ec3e2"],
  ["RAY", "Raydium", "509e133e-f882-4cf6-8f8d-490ed88481fe"],
  ["RENDER", "Render", "9e29fac5-bd22-43b6-9da3-5b86d6362dda"],
  ["SAND", "The Sandbox", "5fc99637-1bdf-408b-8204-91fe2c195e2b"],
  ["SHIB", "Shiba Inu", "d910110f-77d7-4a43-b26d-285a91f444d2"],
  ["SNX", "Synthetix", "ffad3188-8697-436d-8fad-0df21d0925bb"],
  ["SOL", "Solana", "7dd1a43b-500d-47b7-b5d3-153ea2d3feea"],
  ["STRK", "Starknet", "44f57366-3e07-4c18-8333-bfce01660c46"],
  ["UNI", "Uniswap", "13e42f90-e80a-4b4f-a97f-6bd51abb3400"],
  ["VIRTUAL", "Virtuals Protocol", "bb8f53c9-3aea-48fe-85f4-bb790b4304e6"],
  ["W", "Wormhole", "2a3c9b5d-f73d-419c-9912-835304302442"],
  ["WIF", "dogwifhat", "99878d4e-4d04-4012-bdbb-f4b1ee20218a"],
  ["cbETH", "Coinbase Wrapped Staked ETH", "9b00e38a-f678-458d-95f7-736ea0f40b49"]
] as const

export type Coin = (typeof coins)[number][0]
