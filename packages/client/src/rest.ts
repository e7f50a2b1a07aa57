/** Generated from /openapi.json; do not edit (apps/server/test/openapi.test.ts). */
/* eslint-disable */
export interface paths {
    "/api/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * About this server; needs no token
         * @description Name and version of the server, the slots that are here, and whether volunteers need a join code. Needs no token.
         */
        get: operations["getInfo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/rooms/{code}/board": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Contributions of named volunteers in a room (- for volunteers without a room); name and team select whose place to return. Needs no token
         * @description Time of ranks that volunteers with a name have given in the room, the most first, teams summed. `-` in place of the code: volunteers without a room. With `name` and `team`: where that one stands. Needs no token.
         */
        get: operations["getRoomsCodeBoard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/lesson": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin a lesson: a fixed small job whose ranks the visitor’s own page runs, with the code as their room. Needs no token, but the join code of a server that has one
         * @description For the page /lesson: a fixed program, bounded in number, time and what its ranks may send, in a room of its own that the visitor’s page serves. `room` is the join code, where the server has one. Needs no token.
         */
        post: operations["postLesson"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/lesson/{code}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How the lesson stands: ranks, their logs, faults, output
         * @description State of each rank with the length of its log, faults and what rank 0 has printed. Needs no token.
         */
        get: operations["getLessonCode"];
        put?: never;
        post?: never;
        /**
         * Leave the lesson: its job is ended and forgotten
         * @description Ends the job of the lesson, forgets it, and closes its room. Needs no token.
         */
        delete: operations["deleteLessonCode"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/lesson/{code}/step": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send the token round once
         * @description The ranks pass the token round their ring once, which makes one message for each of them. Needs no token.
         */
        post: operations["postLessonCodeStep"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Is it up?
         * @description For load balancers and service managers: 200 while the server serves, 503 from the moment on in which it stops. Needs no token.
         */
        get: operations["getHealthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Prometheus metrics
         * @description The text format of Prometheus. The names are listed in docs/server.md. Needs no token.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Name and role of the token that is sent
         * @description Name, role and expiry of the token of this request. Needs a token of any role.
         */
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tokens, and logins of people: the owner’s first, then the newest first
         * @description Names and roles, when each was made and last used (to a minute). Never the tokens themselves, which are kept as hashes. Needs a token of the role owner.
         */
        get: operations["getTokens"];
        put?: never;
        /**
         * Create a token; only this answer shows it
         * @description Creates a token. Only this answer shows it. Names are unique among the active tokens. Needs a token of the role owner.
         */
        post: operations["postTokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a token: it stops working, and its connections are closed
         * @description The token stops working, and sockets opened with it are closed. Its jobs stay. Needs a token of the role owner.
         */
        delete: operations["deleteTokensId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/quota": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the jobs of this token’s name use, and may use
         * @description What the jobs with the name of this token use now: slots, jobs that have not ended, stored bytes; and their limits. A limit that is absent does not exist. Needs a token of any role.
         */
        get: operations["getQuota"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/quotas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What each owner uses, and may use; the most slots in use first
         * @description The same for every owner that has jobs, a quota or a token. `own` is what was set for this owner; if it is absent, nothing was. Needs a token of the role owner.
         */
        get: operations["getQuotas"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/quotas/{owner}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set the quota of an owner
         * @description Replaces what was set for this owner before. A number is the limit, null is no limit, and what is absent keeps the limit that all owners have. Nothing that runs is stopped. Needs a token of the role owner.
         */
        put: operations["putQuotasOwner"];
        post?: never;
        /**
         * Clear the quota of an owner: the limits of all apply
         * @description The owner has the limits of all owners again. It is no error if nothing was set. Needs a token of the role owner.
         */
        delete: operations["deleteQuotasOwner"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the session or the login token that is sent
         * @description Ends what a login made: the session of this browser (its cookie goes), or the token of a terminal. The session at the issuer stays. Needs a token of any role.
         */
        post: operations["postLogout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a token for a terminal or a script of the person who is signed in; only this answer shows it
         * @description For `mayfly login` and scripts: a token with the name and the role of the person who is signed in on a page, for 30 days. Only this answer shows it. Needs a token of any role.
         */
        post: operations["postMeToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/rooms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Rooms, newest first
         * @description Rooms that are open, each with its join code and how many nodes, slots and jobs it has. Needs a token of any role.
         */
        get: operations["getRooms"];
        put?: never;
        /**
         * Open a room; the answer has its join code
         * @description The answer has the join code. Volunteers who join with it run only the room’s jobs. Needs a token of the role owner.
         */
        post: operations["postRooms"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/checkpoint-advice": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A checkpoint interval from what was measured in a room (or among volunteers without one)
         * @description √(2·C·M) of Young and Daly, from the cost C of an image and the mean time M to a loss, both measured in the room. `measured` is false while too little is known. Needs a token of any role.
         */
        get: operations["getCheckpointAdvice"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/rooms/{code}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Close a room: it takes no new volunteers and no new jobs
         * @description Its code stops working. Refused with CONFLICT while a job of the room waits or runs. Needs a token of the role owner.
         */
        delete: operations["deleteRoomsCode"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All jobs, newest first, without tasks
         * @description All jobs that the server still keeps. Without tasks, faults and result files: ask for the one job to see those. Needs a token of any role.
         */
        get: operations["getJobs"];
        put?: never;
        /**
         * Submit a job
         * @description Compiles the program and queues the job; the job starts when there are slots for all its ranks. A program is TypeScript, C or C++ sources, a module of WebAssembly, or an archive (docs/programs.md); files and standard input are base64. `further` lists programs that share MPI_COMM_WORLD with it, each with ranks and arguments of its own (MPMD). The job carries the name of the token as its owner. With notify, the server posts the end of the job to that URL (docs/server.md, Webhooks). Needs a token of the role submitter or owner.
         */
        post: operations["postJobs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One job
         * @description State, ranks with what each does and where, faults with the time that recovery took, result files. Needs a token of any role.
         */
        get: operations["getJobsId"];
        put?: never;
        post?: never;
        /**
         * Delete an ended job and all its files
         * @description Output, result files and submission are removed for good. Refused with CONFLICT while the job waits or runs. Needs the token that submitted the job, or an owner’s.
         */
        delete: operations["deleteJobsId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/submission": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The submission, as the server received it
         * @description As it was sent with POST /api/jobs. Sending it again creates an identical new job. Needs a token of any role.
         */
        get: operations["getJobsIdSubmission"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a job
         * @description Its ranks stop at once; what it has written stays. Refused with CONFLICT when the job has ended. Needs the token that submitted the job, or an owner’s.
         */
        post: operations["postJobsIdCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a job: each rank takes an image (for at most `waitMs`, default 15 s) and gives its slot back; the job stays so until it is resumed
         * @description Ranks take images and leave; the job keeps its logs and waits for its resumption. Refused with CONFLICT for a job of the protocol none, or one that has ended. With vcl and pcl all ranks take one checkpoint together; without it they resume from the one before. Needs the token that submitted the job, or an owner’s.
         */
        post: operations["postJobsIdPause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a paused job as soon as there are slots for its ranks
         * @description The job goes on from its images and logs as soon as there are slots for its ranks. Refused with CONFLICT when it is not paused. Needs the token that submitted the job, or an owner’s.
         */
        post: operations["postJobsIdResume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/tasks/{task}/kill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Kill the running incarnation of a rank (the server restarts the rank)
         * @description Ends the incarnation that runs now, as a closed tab would. The next one takes over and the answer of the job stays the same; with vcl and pcl all ranks go back to their last checkpoint; a job of the protocol none fails. CONFLICT while the rank is at no node. Needs the token that submitted the job, or an owner’s.
         */
        post: operations["postJobsIdTasksTaskKill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/tasks/{task}/checkpoint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask a rank for a checkpoint now
         * @description The one rank takes an image at its next MPI call, or while it waits in one. With vcl and pcl all do. Needs the token that submitted the job, or an owner’s.
         */
        post: operations["postJobsIdTasksTaskCheckpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/checkpoint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask every rank of a job that has not ended for a checkpoint, now or as soon as it runs; answers which were asked
         * @description Every rank takes an image at its next MPI call, or while it waits in one. The images come later: GET /api/jobs/{id}/images. Needs the token that submitted the job, or an owner’s.
         */
        post: operations["postJobsIdCheckpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/images": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Complete checkpoint images of a running job
         * @description Complete checkpoint images that a restart could begin from, oldest first per rank; at most two are kept. With vcl and pcl those of a checkpoint under way are listed too. Needs a token of any role.
         */
        get: operations["getJobsIdImages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/again": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run an ended job once more, with the same input, seed and options; the two runs are compared when it has ended
         * @description The second run gets the input of an interactive job at once. Random numbers are the same in both runs; a program that reads the clock, or prints who came first, can legitimately differ. Refused with CONFLICT while the job has not ended. Needs a token of the role submitter or owner.
         */
        post: operations["postJobsIdAgain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/comparison": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Other runs of the same job with the same input, and whether they wrote the same, byte for byte
         * @description The first run and all that were made of it with POST /api/jobs/{id}/again. Compared are how they ended, standard output of every rank and result files; not standard error, and nothing of a run that was cancelled or has not ended (`same` is absent then). Needs a token of any role.
         */
        get: operations["getJobsIdComparison"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All output of a job as one tar file: result files, and output by rank
         * @description Result files under files/, standard output and error by rank under stdout/ and stderr/. Made while it is sent, of what there is at the moment; a file that shrinks meanwhile breaks it off. Needs a token of any role.
         */
        get: operations["getJobsIdArchive"];
        put?: never;
        /**
         * An address from which the archive can be downloaded once, within a minute, without a token
         * @description For links of pages: a browser’s download sends no token. Needs a token of any role.
         */
        post: operations["postJobsIdArchive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/downloads/{ticket}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A download that was asked for: needs its ticket, and no token
         * @description The archive that POST /api/jobs/{id}/archive has promised. A ticket serves once. Needs no token.
         */
        get: operations["getDownloadsTicket"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the time of each rank went to, in columns, and what happened; from and to in ms of the server’s clock, columns as wanted at most
         * @description Shares of time by kind, rank and column, as raw deflate in base64 of one byte each (255: the whole column), with faults, images and assignments as events. Needs a token of any role.
         */
        get: operations["getJobsIdTimeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Where the time of each rank went, in sum: by kind, and of the time that it waited, by MPI call
         * @description In ms, over all incarnations of a rank. `ms` has the kinds of the time line; `calls` divide the time that the rank waited, with the number of times that it had to, and from where in the program, as sampled. Told every few seconds; of incarnations that were lost before the server’s last start only starting, dead and paused are known. Needs a token of any role.
         */
        get: operations["getJobsIdProfile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/matrix": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Messages and bytes from rank to rank, as logged; bins of ranks where there are more than `bins`
         * @description Who sent how much to whom. A cell is [bin of sources, bin of destinations, messages, bytes]; a bin holds `binned` ranks. Needs a token of any role.
         */
        get: operations["getJobsIdMatrix"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/charts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Throughput, size of the log and size of the images over the life of a job, in columns, as many as wanted at most
         * @description By column: messages and bytes between ranks per second; bytes in the log of messages, and of the newest image of each rank (means). null: the server was away. Columns are a second times a power of two wide. Needs a token of any role.
         */
        get: operations["getJobsIdCharts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/tasks/{task}/stdout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Bytes of stdout of one rank, from an offset; the header mayfly-next says where to go on
         * @description Raw bytes from the offset `from` on. The header `mayfly-next` says where to go on, `mayfly-ended` is 1 when the job has ended. Needs a token of any role.
         */
        get: operations["getJobsIdTasksTaskStdout"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/tasks/{task}/stderr": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Bytes of stderr of one rank, from an offset; the header mayfly-next says where to go on
         * @description Raw bytes from the offset `from` on. The header `mayfly-next` says where to go on, `mayfly-ended` is 1 when the job has ended. Needs a token of any role.
         */
        get: operations["getJobsIdTasksTaskStderr"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/files/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A result file
         * @description The bytes of a file that the job has written, also while it still writes. Pictures and text are shown by a browser, all else is a download. Needs a token of any role.
         */
        get: operations["getJobsIdFilesPath"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/stdin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Adds raw bytes to standard input of rank 0; durable when answered. With `offset` it may be repeated
         * @description Appends bytes to standard input of rank 0; they are durable when this answers. `end=1` closes it. With `offset` (bytes sent before) the same request may be said again without doubling anything. Needs the token that submitted the job, or an owner’s.
         */
        post: operations["postJobsIdStdin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report of a run: program, options, ranks, nodes, faults, times, hashes of what it wrote
         * @description The run in numbers, also while it is running. `version` rises when a field changes its meaning or goes. Hashes of what it wrote (SHA-256) are there when it has ended. Phases of a fault are ms. Needs a token of any role.
         */
        get: operations["getJobsIdReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/reports/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The report of a run whose owner shares it: needs no token, and has no names of volunteers
         * @description The report of a job that is shared, without names of volunteers and without the text of an error. NOT_FOUND for a job that is not shared, as for one that is not there. Needs no token.
         */
        get: operations["getReportsId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{id}/share": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether the report of a job is shared
         * @description Whether GET /api/reports/{id} answers without a token. Needs a token of any role.
         */
        get: operations["getJobsIdShare"];
        /**
         * Share the report of a job: anyone with its address can read it without a token
         * @description From now on GET /api/reports/{id} and the page /report/{id} need no token. Needs the token that submitted the job, or an owner’s.
         */
        put: operations["putJobsIdShare"];
        post?: never;
        /**
         * Stop sharing the report
         * @description GET /api/reports/{id} and the page /report/{id} need a token again. Needs the token that submitted the job, or an owner’s.
         */
        delete: operations["deleteJobsIdShare"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Volunteers
         * @description Volunteers that are here or were until lately: engine, slots, room, round trip of a heartbeat, measured speed, and how often ranks were lost there. Needs a token of any role.
         */
        get: operations["getNodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/nodes/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the time of the slots of every node went to in the last ten minutes, in columns of five seconds; from: no columns before this time (ms of the server’s clock)
         * @description How many slots of each node did what, in the mean over each column: `slots` is raw deflate in base64 of u16 (little endian) by node, column and kind, in hundredths of a slot. A column comes when it is over; who asks again with `from` gets what is new. Nodes that left are in it for ten minutes. Needs a token of any role.
         */
        get: operations["getNodesTimeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/nodes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One volunteer: its ranks, and those that were lost there
         * @description The node, the ranks that have its slots now, and the incarnations that were lost there, newest first, as far as their jobs are remembered. NOT_FOUND ten minutes after it left. Needs a token of any role.
         */
        get: operations["getNodesId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/nodes/{id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the time of the slots of one node went to in the last ten minutes, and how much memory its ranks had
         * @description As GET /api/nodes/timeline, of one node; and the bytes of the linear memories of its C and C++ ranks, by column. Needs a token of any role.
         */
        get: operations["getNodesIdTimeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/backup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Backup of the data directory as it is now, jobs running or not, into a new folder beside it on the server
         * @description What kill -9 at this moment would have left, in a folder beside the data directory. Jobs stand still for `pauseMs`. `mayfly restore` makes a data directory of it. Needs a token of the role owner.
         */
        post: operations["postBackup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/server/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Lets a server that stands by serve instead of this one, which stands by from then on
         * @description Only where several servers share a database (`mayfly server --store`). Jobs stand still until the other server has them, about a second; ranks keep running. As on SIGTERM, but the process goes on and stands by. Which of those that stand by serves is for them to settle. Needs a token of the role owner.
         */
        post: operations["postServerDrain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/server": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * State of the server: storage, message rate, event loop, connections
         * @description Storage by kind, the free disk and whether jobs are paused because it is full, counters of messages, delay of the event loop, memory. Two answers make a rate. Needs a token of any role.
         */
        get: operations["getServer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/examples": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Programs that come with the server
         * @description Complete programs with sources, arguments and the names of their input files, ready to be submitted. Needs a token of any role.
         */
        get: operations["getExamples"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/examples/{name}/files/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Input file of an example
         * @description The bytes of an input file that an example names. Needs a token of any role.
         */
        get: operations["getExamplesNameFilesPath"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Every refusal: a stable code (docs/errors.md) and a sentence. */
        ApiError: import("@mayfly/wire").ApiError;
        BoardView: import("@mayfly/wire").BoardView;
        ChartsView: import("@mayfly/wire").ChartsView;
        CheckpointAdvice: import("@mayfly/wire").CheckpointAdvice;
        ComparisonView: import("@mayfly/wire").ComparisonView;
        ExampleView: import("@mayfly/wire").ExampleView;
        InfoView: import("@mayfly/wire").InfoView;
        /** @description Report of a run */
        JobReport: import("@mayfly/wire").JobReport;
        JobSubmission: import("@mayfly/wire").JobSubmission;
        JobView: import("@mayfly/wire").JobView;
        LessonView: import("@mayfly/wire").LessonView;
        MatrixView: import("@mayfly/wire").MatrixView;
        Me: import("@mayfly/wire").Me;
        NewToken: import("@mayfly/wire").NewToken;
        NodeDetail: import("@mayfly/wire").NodeDetail;
        NodeView: import("@mayfly/wire").NodeView;
        NodesTimeline: import("@mayfly/wire").NodesTimeline;
        QuotaView: import("@mayfly/wire").QuotaView;
        RoomView: import("@mayfly/wire").RoomView;
        ServerView: import("@mayfly/wire").ServerView;
        TimelineView: import("@mayfly/wire").TimelineView;
        TokenCreated: import("@mayfly/wire").TokenCreated;
        TokenView: import("@mayfly/wire").TokenView;
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getInfo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "mayfly",
                     *       "version": "0.2.0",
                     *       "roomNeeded": false,
                     *       "slots": {
                     *         "total": 12,
                     *         "free": 8,
                     *         "nodes": 4
                     *       },
                     *       "maxSubmissionBytes": 67108864,
                     *       "maxInputBytes": 50331648
                     *     }
                     */
                    "application/json": components["schemas"]["InfoView"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getRoomsCodeBoard: {
        parameters: {
            query?: {
                /** @description Of the example; on a board, of the volunteer. */
                name?: string;
                /** @description Of the volunteer. */
                team?: string;
            };
            header?: never;
            path: {
                /** @description Join code of the room. */
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "since": 1760000000000,
                     *       "names": 1,
                     *       "entries": [
                     *         {
                     *           "place": 1,
                     *           "name": "Ada",
                     *           "team": "physics",
                     *           "usefulMs": 5400000,
                     *           "replayedMs": 60000,
                     *           "finished": 14,
                     *           "jobs": 3,
                     *           "here": true
                     *         }
                     *       ],
                     *       "you": {
                     *         "place": 1,
                     *         "name": "Ada",
                     *         "team": "physics",
                     *         "usefulMs": 5400000,
                     *         "replayedMs": 60000,
                     *         "finished": 14,
                     *         "jobs": 3,
                     *         "here": true
                     *       },
                     *       "teams": [
                     *         {
                     *           "team": "physics",
                     *           "names": 1,
                     *           "usefulMs": 5400000,
                     *           "replayedMs": 60000,
                     *           "finished": 14
                     *         }
                     *       ],
                     *       "anonymous": {
                     *         "usefulMs": 0,
                     *         "replayedMs": 0,
                     *         "finished": 0,
                     *         "jobs": 0
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["BoardView"];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postLesson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "room": "QX7PKM"
                 *     }
                 */
                "application/json": {
                    room?: string;
                } | null;
            };
        };
        responses: {
            /** @description It is so. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "QX7PKM"
                     *     }
                     */
                    "application/json": {
                        code: string;
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getLessonCode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Join code of the room. */
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "state": "running",
                     *       "steps": 2,
                     *       "ranks": [
                     *         {
                     *           "rank": 0,
                     *           "state": "running",
                     *           "incarnation": 0,
                     *           "logged": 4,
                     *           "read": 4
                     *         }
                     *       ],
                     *       "faults": [],
                     *       "output": "lap 1\n"
                     *     }
                     */
                    "application/json": components["schemas"]["LessonView"];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    deleteLessonCode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Join code of the room. */
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": {
                        /** @enum {boolean} */
                        ok: true;
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postLessonCodeStep: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Join code of the room. */
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": {
                        /** @enum {boolean} */
                        ok: true;
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description CONFLICT: The state has changed; read it again. QUOTA_EXCEEDED: Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "CONFLICT",
                     *       "message": "The job has ended (done)."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getHealthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": unknown;
                };
            };
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Ada",
                     *       "role": "submitter"
                     *     }
                     */
                    "application/json": components["schemas"]["Me"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getTokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "name": "owner",
                     *         "role": "owner",
                     *         "lastUsedAt": 1760000000000
                     *       },
                     *       {
                     *         "id": "a1b2c3d4e5",
                     *         "name": "Ada",
                     *         "role": "submitter",
                     *         "createdAt": 1760000000000,
                     *         "lastUsedAt": 1760000060000
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["TokenView"][];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postTokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Ada",
                 *       "role": "submitter",
                 *       "expiresAt": 1760000000000
                 *     }
                 */
                "application/json": components["schemas"]["NewToken"];
            };
        };
        responses: {
            /** @description It is so. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "a1b2c3d4e5",
                     *       "name": "Ada",
                     *       "role": "submitter",
                     *       "createdAt": 1759913600000,
                     *       "expiresAt": 1760000000000,
                     *       "token": "mf_a1b2c3d4e5_0123456789abcdefghijklmnopqrstuvwxyz0123"
                     *     }
                     */
                    "application/json": components["schemas"]["TokenCreated"];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description CONFLICT: The state has changed; read it again. QUOTA_EXCEEDED: Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "CONFLICT",
                     *       "message": "The job has ended (done)."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    deleteTokensId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": {
                        /** @enum {boolean} */
                        ok: true;
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getQuota: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "owner": "Ada",
                     *       "used": {
                     *         "slots": 4,
                     *         "jobs": 2,
                     *         "bytes": 1250000
                     *       },
                     *       "limits": {
                     *         "slots": 8,
                     *         "bytes": 2000000000
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["QuotaView"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getQuotas: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "owner": "Ada",
                     *         "used": {
                     *           "slots": 4,
                     *           "jobs": 2,
                     *           "bytes": 1250000
                     *         },
                     *         "limits": {
                     *           "slots": 16,
                     *           "jobs": 10
                     *         },
                     *         "own": {
                     *           "slots": 16,
                     *           "bytes": null
                     *         }
                     *       },
                     *       {
                     *         "owner": "owner",
                     *         "used": {
                     *           "slots": 0,
                     *           "jobs": 0,
                     *           "bytes": 0
                     *         },
                     *         "limits": {}
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["QuotaView"][];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    putQuotasOwner: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of a token: the owner of the jobs that it submitted. */
                owner: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "slots": 16,
                 *       "bytes": null
                 *     }
                 */
                "application/json": {
                    slots?: number | null;
                    jobs?: number | null;
                    bytes?: number | null;
                };
            };
        };
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "owner": "Ada",
                     *       "used": {
                     *         "slots": 4,
                     *         "jobs": 2,
                     *         "bytes": 1250000
                     *       },
                     *       "limits": {
                     *         "slots": 16,
                     *         "jobs": 10
                     *       },
                     *       "own": {
                     *         "slots": 16,
                     *         "bytes": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["QuotaView"];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    deleteQuotasOwner: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of a token: the owner of the jobs that it submitted. */
                owner: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": {
                        /** @enum {boolean} */
                        ok: true;
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postLogout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": {
                        /** @enum {boolean} */
                        ok: true;
                    };
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description CONFLICT: The state has changed; read it again. QUOTA_EXCEEDED: Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "CONFLICT",
                     *       "message": "The job has ended (done)."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postMeToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "a1b2c3d4e5",
                     *       "name": "ada@example.org",
                     *       "role": "submitter",
                     *       "login": "terminal",
                     *       "createdAt": 1760000000000,
                     *       "expiresAt": 1762592000000,
                     *       "token": "mf_a1b2c3d4e5_0123456789abcdefghijklmnopqrstuvwxyz0123"
                     *     }
                     */
                    "application/json": components["schemas"]["TokenCreated"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description CONFLICT: The state has changed; read it again. QUOTA_EXCEEDED: Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "CONFLICT",
                     *       "message": "The job has ended (done)."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getRooms: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "code": "QX7PKM",
                     *         "name": "Class 7b",
                     *         "createdAt": 1760000000000,
                     *         "nodes": 5,
                     *         "slots": 15,
                     *         "free": 11,
                     *         "jobs": 1
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["RoomView"][];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postRooms: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Class 7b"
                 *     }
                 */
                "application/json": {
                    name: string;
                    server?: string;
                };
            };
        };
        responses: {
            /** @description It is so. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "QX7PKM",
                     *       "name": "Class 7b",
                     *       "createdAt": 1760000000000,
                     *       "nodes": 0,
                     *       "slots": 0,
                     *       "free": 0,
                     *       "jobs": 0
                     *     }
                     */
                    "application/json": components["schemas"]["RoomView"];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getCheckpointAdvice: {
        parameters: {
            query?: {
                /** @description Join code of a room; absent: volunteers without a room. */
                room?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "checkpointMs": 21000,
                     *       "measured": true,
                     *       "costMs": 40,
                     *       "mtbfMs": 5500000,
                     *       "faults": 6,
                     *       "rankMs": 33000000
                     *     }
                     */
                    "application/json": components["schemas"]["CheckpointAdvice"];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    deleteRoomsCode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Join code of the room. */
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": {
                        /** @enum {boolean} */
                        ok: true;
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description CONFLICT: The state has changed; read it again. QUOTA_EXCEEDED: Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "CONFLICT",
                     *       "message": "The job has ended (done)."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getJobs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "k3v9x0q2m7ab",
                     *         "name": "pi",
                     *         "state": "running",
                     *         "size": 1,
                     *         "protocol": "pessimistic",
                     *         "durability": "behind",
                     *         "program": {
                     *           "language": "typescript",
                     *           "entry": "main.ts",
                     *           "hash": "9f2c4a7e1b3d5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
                     *         },
                     *         "args": [
                     *           "1000000"
                     *         ],
                     *         "owner": "Ada",
                     *         "submittedAt": 1760000000000,
                     *         "startedAt": 1760000002000,
                     *         "tasks": [],
                     *         "faults": [],
                     *         "outputs": [],
                     *         "outputBytes": 36
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["JobView"][];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postJobs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "pi",
                 *       "program": {
                 *         "language": "typescript",
                 *         "entry": "main.ts",
                 *         "sources": {
                 *           "main.ts": "import { COMM_WORLD as comm } from 'mayfly';\nconsole.log('rank', comm.rank, 'of', comm.size);\n"
                 *         }
                 *       },
                 *       "size": 4,
                 *       "args": [
                 *         "1000000"
                 *       ],
                 *       "options": {
                 *         "checkpointMs": 30000
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["JobSubmission"];
            };
        };
        responses: {
            /** @description It is so. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "k3v9x0q2m7ab",
                     *       "warnings": []
                     *     }
                     */
                    "application/json": {
                        id: string;
                        warnings: unknown[];
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description CONFLICT: The state has changed; read it again. QUOTA_EXCEEDED: Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "CONFLICT",
                     *       "message": "The job has ended (done)."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_LARGE: Send less, or raise the limit on the server. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_LARGE",
                     *       "message": "Send less, or raise the limit on the server."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description COMPILE_FAILED: See the diagnostics; the program did not run. FORBIDDEN_IMPORT: A program may import its own files and "mayfly" only. FORBIDDEN_FLAG: Remove the option; docs/programs.md lists the allowed ones. BAD_MODULE: Build the module with mayfly mpicc; the message names what a rank cannot run. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "COMPILE_FAILED",
                     *       "message": "The program does not compile."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getJobsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "k3v9x0q2m7ab",
                     *       "name": "pi",
                     *       "state": "running",
                     *       "size": 1,
                     *       "protocol": "pessimistic",
                     *       "durability": "behind",
                     *       "program": {
                     *         "language": "typescript",
                     *         "entry": "main.ts",
                     *         "hash": "9f2c4a7e1b3d5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
                     *       },
                     *       "args": [
                     *         "1000000"
                     *       ],
                     *       "owner": "Ada",
                     *       "submittedAt": 1760000000000,
                     *       "startedAt": 1760000002000,
                     *       "tasks": [
                     *         {
                     *           "task": 0,
                     *           "state": "running",
                     *           "incarnation": 1,
                     *           "node": "n0d3n0d3n0d3n0d3",
                     *           "nodeName": "desk-4",
                     *           "messagesIn": 120,
                     *           "bytesIn": 96000,
                     *           "messagesOut": 118,
                     *           "bytesOut": 94400,
                     *           "images": 2,
                     *           "imageBytes": 65536,
                     *           "lastImageAt": 1760000040000
                     *         }
                     *       ],
                     *       "faults": [
                     *         {
                     *           "at": 1760000030000,
                     *           "task": 0,
                     *           "incarnation": 0,
                     *           "node": "n0d3n0d3n0d3n0d4",
                     *           "cause": "disconnected",
                     *           "assignedAfterMs": 420,
                     *           "startedAfterMs": 530,
                     *           "recoveredAfterMs": 610
                     *         }
                     *       ],
                     *       "outputs": [
                     *         {
                     *           "path": "out/pi.txt",
                     *           "bytes": 18,
                     *           "task": 0
                     *         }
                     *       ],
                     *       "outputBytes": 36
                     *     }
                     */
                    "application/json": components["schemas"]["JobView"];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    deleteJobsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": {
                        /** @enum {boolean} */
                        ok: true;
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description CONFLICT: The state has changed; read it again. QUOTA_EXCEEDED: Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "CONFLICT",
                     *       "message": "The job has ended (done)."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getJobsIdSubmission: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "pi",
                     *       "program": {
                     *         "language": "typescript",
                     *         "entry": "main.ts",
                     *         "sources": {
                     *           "main.ts": "import { COMM_WORLD as comm } from 'mayfly';\nconsole.log('rank', comm.rank, 'of', comm.size);\n"
                     *         }
                     *       },
                     *       "size": 4,
                     *       "args": [
                     *         "1000000"
                     *       ],
                     *       "options": {
                     *         "checkpointMs": 30000
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["JobSubmission"];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postJobsIdCancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": {
                        /** @enum {boolean} */
                        ok: true;
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description CONFLICT: The state has changed; read it again. QUOTA_EXCEEDED: Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "CONFLICT",
                     *       "message": "The job has ended (done)."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postJobsIdPause: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "waitMs": 15000
                 *     }
                 */
                "application/json": {
                    waitMs?: number;
                } | null;
            };
        };
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": {
                        /** @enum {boolean} */
                        ok: true;
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description CONFLICT: The state has changed; read it again. QUOTA_EXCEEDED: Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "CONFLICT",
                     *       "message": "The job has ended (done)."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postJobsIdResume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": {
                        /** @enum {boolean} */
                        ok: true;
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description CONFLICT: The state has changed; read it again. QUOTA_EXCEEDED: Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "CONFLICT",
                     *       "message": "The job has ended (done)."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postJobsIdTasksTaskKill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
                /** @description Rank at the start of the job, from 0. */
                task: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": {
                        /** @enum {boolean} */
                        ok: true;
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description CONFLICT: The state has changed; read it again. QUOTA_EXCEEDED: Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "CONFLICT",
                     *       "message": "The job has ended (done)."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postJobsIdTasksTaskCheckpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
                /** @description Rank at the start of the job, from 0. */
                task: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": {
                        /** @enum {boolean} */
                        ok: true;
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description CONFLICT: The state has changed; read it again. QUOTA_EXCEEDED: Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "CONFLICT",
                     *       "message": "The job has ended (done)."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postJobsIdCheckpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "asked": [
                     *         0,
                     *         1,
                     *         2,
                     *         3
                     *       ]
                     *     }
                     */
                    "application/json": {
                        asked: number[];
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description CONFLICT: The state has changed; read it again. QUOTA_EXCEEDED: Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "CONFLICT",
                     *       "message": "The job has ended (done)."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getJobsIdImages: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "task": 0,
                     *         "image": "k3v9x0q2m7ab-0-1-2",
                     *         "serial": 2,
                     *         "incarnation": 1,
                     *         "bytes": 65536,
                     *         "sentBytes": 12288,
                     *         "at": 1760000000000
                     *       }
                     *     ]
                     */
                    "application/json": {
                        task: number;
                        image: string;
                        serial: number;
                        incarnation: number;
                        bytes: number;
                        sentBytes: number;
                        at: number;
                    }[];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postJobsIdAgain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "room": null
                 *     }
                 */
                "application/json": {
                    room?: string | null;
                    rooms?: (string | null)[];
                } | null;
            };
        };
        responses: {
            /** @description It is so. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "m2w8c4r6t1yz",
                     *       "warnings": []
                     *     }
                     */
                    "application/json": {
                        id: string;
                        warnings: unknown[];
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description CONFLICT: The state has changed; read it again. QUOTA_EXCEEDED: Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "CONFLICT",
                     *       "message": "The job has ended (done)."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description COMPILE_FAILED: See the diagnostics; the program did not run. FORBIDDEN_IMPORT: A program may import its own files and "mayfly" only. FORBIDDEN_FLAG: Remove the option; docs/programs.md lists the allowed ones. BAD_MODULE: Build the module with mayfly mpicc; the message names what a rank cannot run. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "COMPILE_FAILED",
                     *       "message": "The program does not compile."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getJobsIdComparison: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job": "k3v9x0q2m7ab",
                     *       "streams": 1,
                     *       "files": 1,
                     *       "bytes": 36,
                     *       "runs": [
                     *         {
                     *           "job": "m2w8c4r6t1yz",
                     *           "name": "pi (again)",
                     *           "state": "done",
                     *           "faults": 0,
                     *           "same": true,
                     *           "differences": []
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ComparisonView"];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getJobsIdArchive: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postJobsIdArchive: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "url": "/api/downloads/0123456789abcdefghijklmnopqrstuv",
                     *       "expiresAt": 1760000060000
                     *     }
                     */
                    "application/json": {
                        url: string;
                        expiresAt: number;
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getDownloadsTicket: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the download. */
                ticket: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getJobsIdTimeline: {
        parameters: {
            query?: {
                /** @description Offset in bytes (default 0); of a time line the moment where it begins, ms. */
                from?: number;
                /** @description Up to when, ms of the server’s clock. */
                to?: number;
                /** @description First rank. */
                first?: number;
                /** @description Last rank. */
                last?: number;
                /** @description At most so many. */
                columns?: number;
                /** @description 0: without events. */
                events?: "0" | "1";
            };
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job": "k3v9x0q2m7ab",
                     *       "size": 1,
                     *       "kinds": [
                     *         "computing",
                     *         "waiting"
                     *       ],
                     *       "since": 1760000000000,
                     *       "until": 1760000060000,
                     *       "now": 1760000060500,
                     *       "ended": false,
                     *       "from": 1760000000000,
                     *       "widthMs": 1000,
                     *       "columns": 60,
                     *       "first": 0,
                     *       "last": 0,
                     *       "shares": "Y2AAAA==",
                     *       "events": [
                     *         {
                     *           "at": 1760000030000,
                     *           "kind": "fault",
                     *           "task": 0,
                     *           "incarnation": 0,
                     *           "cause": "disconnected"
                     *         }
                     *       ],
                     *       "eventsLeftOut": 0
                     *     }
                     */
                    "application/json": components["schemas"]["TimelineView"];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getJobsIdProfile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job": "k3v9x0q2m7ab",
                     *       "ranks": [
                     *         {
                     *           "rank": 0,
                     *           "ms": {
                     *             "computing": 51200,
                     *             "waiting": 7900,
                     *             "starting": 640
                     *           },
                     *           "calls": [
                     *             {
                     *               "call": "MPI_Allreduce",
                     *               "ms": 7100,
                     *               "times": 940,
                     *               "places": [
                     *                 {
                     *                   "place": "residual (cg.c:88)",
                     *                   "ms": 7090
                     *                 }
                     *               ]
                     *             },
                     *             {
                     *               "call": "MPI_Recv",
                     *               "ms": 800,
                     *               "times": 31,
                     *               "places": [
                     *                 {
                     *                   "place": "exchange (halo.c:40)",
                     *                   "ms": 795
                     *                 }
                     *               ]
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        job: string;
                        ranks: {
                            rank: number;
                            ms: {
                                [key: string]: number;
                            };
                            calls: {
                                call: string;
                                ms: number;
                                times: number;
                                places: {
                                    place: string;
                                    ms: number;
                                }[];
                            }[];
                        }[];
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getJobsIdMatrix: {
        parameters: {
            query?: {
                /** @description First rank of the sources. */
                srcFirst?: number;
                /** @description Last rank of the sources. */
                srcLast?: number;
                /** @description First rank of the destinations. */
                dstFirst?: number;
                /** @description Last rank of the destinations. */
                dstLast?: number;
                /** @description At most so many bins a side. */
                bins?: number;
            };
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job": "k3v9x0q2m7ab",
                     *       "size": 4,
                     *       "src": [
                     *         0,
                     *         3
                     *       ],
                     *       "dst": [
                     *         0,
                     *         3
                     *       ],
                     *       "binned": 1,
                     *       "cells": [
                     *         [
                     *           0,
                     *           1,
                     *           12,
                     *           9600
                     *         ]
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["MatrixView"];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getJobsIdCharts: {
        parameters: {
            query?: {
                /** @description At most so many. */
                columns?: number;
            };
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job": "k3v9x0q2m7ab",
                     *       "since": 1760000000000,
                     *       "until": 1760000002000,
                     *       "now": 1760000002100,
                     *       "ended": false,
                     *       "from": 1760000000000,
                     *       "widthMs": 1000,
                     *       "columns": 2,
                     *       "values": {
                     *         "messages": [
                     *           120,
                     *           null
                     *         ],
                     *         "bytes": [
                     *           96000,
                     *           null
                     *         ],
                     *         "logBytes": [
                     *           48000,
                     *           null
                     *         ],
                     *         "imageBytes": [
                     *           0,
                     *           null
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ChartsView"];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getJobsIdTasksTaskStdout: {
        parameters: {
            query?: {
                /** @description Offset in bytes (default 0); of a time line the moment where it begins, ms. */
                from?: number;
            };
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
                /** @description Rank at the start of the job, from 0. */
                task: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getJobsIdTasksTaskStderr: {
        parameters: {
            query?: {
                /** @description Offset in bytes (default 0); of a time line the moment where it begins, ms. */
                from?: number;
            };
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
                /** @description Rank at the start of the job, from 0. */
                task: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getJobsIdFilesPath: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
                /** @description Path of the file; its slashes stay slashes. */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postJobsIdStdin: {
        parameters: {
            query?: {
                /** @description 1: standard input ends after these bytes. */
                end?: "0" | "1";
                /** @description Bytes of standard input that were sent before; what the server has of them is not taken twice. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "bytes": 18
                     *     }
                     */
                    "application/json": {
                        bytes: number;
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description CONFLICT: The state has changed; read it again. QUOTA_EXCEEDED: Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "CONFLICT",
                     *       "message": "The job has ended (done)."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_LARGE: Send less, or raise the limit on the server. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_LARGE",
                     *       "message": "Send less, or raise the limit on the server."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getJobsIdReport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "format": "mayfly-report",
                     *       "version": 1,
                     *       "at": 1760000070000,
                     *       "server": {
                     *         "version": "0.2.0"
                     *       },
                     *       "job": {
                     *         "id": "k3v9x0q2m7ab",
                     *         "name": "pi",
                     *         "state": "done",
                     *         "program": {
                     *           "language": "typescript",
                     *           "entry": "main.ts",
                     *           "hash": "9f2c4a7e1b3d5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
                     *         },
                     *         "args": [
                     *           "1000000"
                     *         ],
                     *         "size": 1,
                     *         "inputs": [],
                     *         "seed": 42,
                     *         "options": {
                     *           "protocol": "pessimistic",
                     *           "durability": "behind",
                     *           "checkpointMs": 30000,
                     *           "memoryBytes": 268435456,
                     *           "channelMemories": 1
                     *         },
                     *         "submittedAt": 1760000000000,
                     *         "startedAt": 1760000002000,
                     *         "endedAt": 1760000062000,
                     *         "runMs": 60000,
                     *         "pausedMs": 0,
                     *         "exitCode": 0
                     *       },
                     *       "ranks": [
                     *         {
                     *           "rank": 0,
                     *           "state": "done",
                     *           "exitCode": 0,
                     *           "incarnations": 2,
                     *           "messagesIn": 120,
                     *           "bytesIn": 96000,
                     *           "messagesOut": 118,
                     *           "bytesOut": 94400,
                     *           "images": 2,
                     *           "imageBytes": 65536
                     *         }
                     *       ],
                     *       "nodes": [
                     *         {
                     *           "name": "desk-4",
                     *           "engine": "Chromium 140",
                     *           "ranks": [
                     *             0
                     *           ]
                     *         }
                     *       ],
                     *       "faults": [
                     *         {
                     *           "at": 1760000030000,
                     *           "rank": 0,
                     *           "incarnation": 0,
                     *           "cause": "disconnected",
                     *           "slotMs": 420,
                     *           "startMs": 110,
                     *           "replayMs": 80,
                     *           "recoveredAfterMs": 610
                     *         }
                     *       ],
                     *       "totals": {
                     *         "messages": 118,
                     *         "bytes": 94400,
                     *         "images": 2,
                     *         "imageBytes": 65536,
                     *         "incarnations": 2,
                     *         "faults": 1,
                     *         "usefulMs": 59000,
                     *         "replayedMs": 80,
                     *         "spentMs": {
                     *           "computing": 59000,
                     *           "replaying": 80
                     *         }
                     *       },
                     *       "outputs": {
                     *         "stdout": [],
                     *         "stderr": [],
                     *         "files": [
                     *           {
                     *             "path": "out/pi.txt",
                     *             "bytes": 18,
                     *             "rank": 0,
                     *             "sha256": "9f2c4a7e1b3d5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["JobReport"];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getReportsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "format": "mayfly-report",
                     *       "version": 1,
                     *       "at": 1760000070000,
                     *       "server": {
                     *         "version": "0.2.0"
                     *       },
                     *       "job": {
                     *         "id": "k3v9x0q2m7ab",
                     *         "name": "pi",
                     *         "state": "done",
                     *         "program": {
                     *           "language": "typescript",
                     *           "entry": "main.ts",
                     *           "hash": "9f2c4a7e1b3d5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
                     *         },
                     *         "args": [
                     *           "1000000"
                     *         ],
                     *         "size": 1,
                     *         "inputs": [],
                     *         "seed": 42,
                     *         "options": {
                     *           "protocol": "pessimistic",
                     *           "durability": "behind",
                     *           "checkpointMs": 30000,
                     *           "memoryBytes": 268435456,
                     *           "channelMemories": 1
                     *         },
                     *         "submittedAt": 1760000000000,
                     *         "startedAt": 1760000002000,
                     *         "endedAt": 1760000062000,
                     *         "runMs": 60000,
                     *         "pausedMs": 0,
                     *         "exitCode": 0
                     *       },
                     *       "ranks": [
                     *         {
                     *           "rank": 0,
                     *           "state": "done",
                     *           "exitCode": 0,
                     *           "incarnations": 2,
                     *           "messagesIn": 120,
                     *           "bytesIn": 96000,
                     *           "messagesOut": 118,
                     *           "bytesOut": 94400,
                     *           "images": 2,
                     *           "imageBytes": 65536
                     *         }
                     *       ],
                     *       "nodes": [
                     *         {
                     *           "engine": "Chromium 140",
                     *           "ranks": [
                     *             0
                     *           ]
                     *         }
                     *       ],
                     *       "faults": [
                     *         {
                     *           "at": 1760000030000,
                     *           "rank": 0,
                     *           "incarnation": 0,
                     *           "cause": "disconnected",
                     *           "slotMs": 420,
                     *           "startMs": 110,
                     *           "replayMs": 80,
                     *           "recoveredAfterMs": 610
                     *         }
                     *       ],
                     *       "totals": {
                     *         "messages": 118,
                     *         "bytes": 94400,
                     *         "images": 2,
                     *         "imageBytes": 65536,
                     *         "incarnations": 2,
                     *         "faults": 1,
                     *         "usefulMs": 59000,
                     *         "replayedMs": 80,
                     *         "spentMs": {
                     *           "computing": 59000,
                     *           "replaying": 80
                     *         }
                     *       },
                     *       "outputs": {
                     *         "stdout": [],
                     *         "stderr": [],
                     *         "files": [
                     *           {
                     *             "path": "out/pi.txt",
                     *             "bytes": 18,
                     *             "rank": 0,
                     *             "sha256": "9f2c4a7e1b3d5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["JobReport"];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getJobsIdShare: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "shared": true
                     *     }
                     */
                    "application/json": {
                        shared: boolean;
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    putJobsIdShare: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": {
                        /** @enum {boolean} */
                        ok: true;
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    deleteJobsIdShare: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": {
                        /** @enum {boolean} */
                        ok: true;
                    };
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getNodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "n0d3n0d3n0d3n0d3",
                     *         "name": "desk-4",
                     *         "engine": "Chromium 140",
                     *         "slots": 3,
                     *         "busy": 1,
                     *         "cores": 4,
                     *         "rttMs": 2.5,
                     *         "faults": 0,
                     *         "record": true,
                     *         "runs": [
                     *           "wasm",
                     *           "typescript"
                     *         ],
                     *         "state": "here",
                     *         "since": 1760000000000,
                     *         "lastSeen": 1760000001000
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["NodeView"][];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getNodesTimeline: {
        parameters: {
            query?: {
                /** @description Offset in bytes (default 0); of a time line the moment where it begins, ms. */
                from?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "kinds": [
                     *         "computing",
                     *         "waiting"
                     *       ],
                     *       "now": 1760000061500,
                     *       "from": 1760000000000,
                     *       "widthMs": 5000,
                     *       "columns": 12,
                     *       "nextMs": 5000,
                     *       "nodes": [
                     *         "n0d3n0d3n0d3n0d3"
                     *       ],
                     *       "slots": "Y2AAAA=="
                     *     }
                     */
                    "application/json": components["schemas"]["NodesTimeline"];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getNodesId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "now": 1760000060000,
                     *       "node": {
                     *         "id": "n0d3n0d3n0d3n0d3",
                     *         "name": "desk-4",
                     *         "engine": "Chromium 140",
                     *         "slots": 3,
                     *         "busy": 1,
                     *         "cores": 4,
                     *         "rttMs": 2.5,
                     *         "faults": 1,
                     *         "state": "here",
                     *         "since": 1760000000000,
                     *         "lastSeen": 1760000059000
                     *       },
                     *       "ranks": [
                     *         {
                     *           "job": "k3v9x0q2m7ab",
                     *           "name": "pi",
                     *           "task": 0,
                     *           "incarnation": 1,
                     *           "state": "running"
                     *         }
                     *       ],
                     *       "memory": 16777216,
                     *       "losses": [
                     *         {
                     *           "at": 1760000030000,
                     *           "job": "k3v9x0q2m7ab",
                     *           "name": "pi",
                     *           "task": 0,
                     *           "incarnation": 0,
                     *           "cause": "crashed",
                     *           "recoveredAfterMs": 900
                     *         }
                     *       ],
                     *       "lossesLeftOut": 0
                     *     }
                     */
                    "application/json": components["schemas"]["NodeDetail"];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getNodesIdTimeline: {
        parameters: {
            query?: {
                /** @description Offset in bytes (default 0); of a time line the moment where it begins, ms. */
                from?: number;
            };
            header?: never;
            path: {
                /** @description Of the job (12 characters), of the token (10), or of the node (16). */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "kinds": [
                     *         "computing",
                     *         "waiting"
                     *       ],
                     *       "now": 1760000061500,
                     *       "from": 1760000000000,
                     *       "widthMs": 5000,
                     *       "columns": 12,
                     *       "nextMs": 5000,
                     *       "nodes": [
                     *         "n0d3n0d3n0d3n0d3"
                     *       ],
                     *       "slots": "Y2AAAA==",
                     *       "memory": [
                     *         16777216,
                     *         16777216,
                     *         16777216,
                     *         16777216,
                     *         16777216,
                     *         16777216,
                     *         16777216,
                     *         16777216,
                     *         16777216,
                     *         16777216,
                     *         16777216,
                     *         16777216
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["NodesTimeline"];
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postBackup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "path": "/var/lib/mayfly-backups/2026-01-01T00-00-00.000",
                     *       "format": 1,
                     *       "version": "0.2.0",
                     *       "at": 1760000000000,
                     *       "files": 120,
                     *       "bytes": 52428800,
                     *       "pauseMs": 14
                     *     }
                     */
                    "application/json": {
                        path: string;
                        format: number;
                        version: string;
                        at: number;
                        files: number;
                        bytes: number;
                        pauseMs: number;
                    };
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description CONFLICT: The state has changed; read it again. QUOTA_EXCEEDED: Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "CONFLICT",
                     *       "message": "The job has ended (done)."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description DISK_FULL: Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space. STORAGE_FAILED: The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); see its log. Running jobs pause until it can. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "DISK_FULL",
                     *       "message": "Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    postServerDrain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "standBys": [
                     *         {
                     *           "who": "process 4711 on beta",
                     *           "address": "beta.example.org:7070",
                     *           "owns": false,
                     *           "memories": 0,
                     *           "jobs": 0,
                     *           "messagesPerSecond": 0
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        standBys: {
                            who: string;
                            address: string;
                            owns: boolean;
                            memories: number;
                            jobs: number;
                            messagesPerSecond: number;
                        }[];
                    };
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description CONFLICT: The state has changed; read it again. QUOTA_EXCEEDED: Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "CONFLICT",
                     *       "message": "The job has ended (done)."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getServer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": "0.2.0",
                     *       "node": "v20.20.2",
                     *       "startedAt": 1760000000000,
                     *       "now": 1760000060000,
                     *       "nodes": 4,
                     *       "slots": 12,
                     *       "busy": 4,
                     *       "jobs": {
                     *         "running": 1
                     *       },
                     *       "dashboards": 1,
                     *       "dataLinks": 4,
                     *       "imageLinks": 4,
                     *       "appends": 12000,
                     *       "appendedBytes": 9600000,
                     *       "receivedBytes": 9900000,
                     *       "sentBytes": 9800000,
                     *       "logBytes": 4194304,
                     *       "storage": {
                     *         "at": 1760000050000,
                     *         "log": 4194304,
                     *         "images": 8388608,
                     *         "jobs": 1048576,
                     *         "registry": 262144,
                     *         "freeBytes": 50000000000,
                     *         "limitBytes": 21474836480
                     *       },
                     *       "disk": {
                     *         "state": "ok",
                     *         "directory": "/var/lib/mayfly",
                     *         "freeBytes": 50000000000,
                     *         "totalBytes": 200000000000,
                     *         "reserveBytes": 268435456
                     *       },
                     *       "eventLoopMs": {
                     *         "mean": 0.2,
                     *         "p99": 1.4,
                     *         "max": 12
                     *       },
                     *       "memoryBytes": 120000000,
                     *       "cpu": 0.05,
                     *       "servers": [
                     *         {
                     *           "who": "process 812 on alpha",
                     *           "address": "10.0.0.5:7070",
                     *           "owns": true,
                     *           "memories": 2,
                     *           "jobs": 2,
                     *           "messagesPerSecond": 310
                     *         },
                     *         {
                     *           "who": "process 790 on beta",
                     *           "address": "10.0.0.6:7070",
                     *           "owns": false,
                     *           "memories": 3,
                     *           "jobs": 2,
                     *           "messagesPerSecond": 1240
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ServerView"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getExamples: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "name": "pi",
                     *         "title": "Pi",
                     *         "description": "By integration",
                     *         "size": 4,
                     *         "args": [
                     *           "1000000"
                     *         ],
                     *         "language": "typescript",
                     *         "flags": [],
                     *         "entry": "main.ts",
                     *         "sources": {
                     *           "main.ts": "export {};"
                     *         },
                     *         "files": []
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["ExampleView"][];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
    getExamplesNameFilesPath: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the example; on a board, of the volunteer. */
                name: string;
                /** @description Path of the file; its slashes stay slashes. */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is so. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description BAD_REQUEST: Correct the named field and send it again. BAD_ARCHIVE: Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "BAD_REQUEST",
                     *       "message": "body must have required properties size"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description UNAUTHORIZED: Send a token of this server: the one that it printed at its first start, or one that its owner created. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "UNAUTHORIZED",
                     *       "message": "Invalid, revoked or expired token."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description FORBIDDEN: The token or capability does not grant access to this; ask the owner of the server for another one. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "FORBIDDEN",
                     *       "message": "This requires a token with the role submitter; “Ada” has the role viewer."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description NOT_FOUND: Check the id. Jobs and nodes past their retention are deleted. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NOT_FOUND",
                     *       "message": "There is no job k3v9x0q2m7ab."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
            /** @description TOO_MANY: Wait, then try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "TOO_MANY",
                     *       "message": "More than 3000 requests per minute with this token from this address. Try again in 1 minute."
                     *     }
                     */
                    "application/json": components["schemas"]["ApiError"];
                };
            };
        };
    };
}
