import { describeFaults } from './table.ts'

describeFaults('life')
