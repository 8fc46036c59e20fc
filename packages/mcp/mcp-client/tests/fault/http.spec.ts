import { describeFaults } from './table.ts'

describeFaults('http', 'httpOpening', 'httpSessions')
