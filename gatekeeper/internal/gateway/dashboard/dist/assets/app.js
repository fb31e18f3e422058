var V,jn,Dr,Oe,Jt,yt,qn,vt,Un,Qt,Gt,Rr,st=Symbol.for("pv"),wt={},kt=[],Or=/^m(i|n|o|s|text|space)$/,Yt=Array.isArray,Xt=kt.slice,Ke=Object.assign;function Be(e){e&&e.parentNode&&e.remove()}function Wn(e,t,n){var o,s,a,i={},l=arguments.length;for(a in t)a=="key"?o=t[a]:a=="ref"&&typeof e!="function"?s=t[a]:i[a]=t[a];return l>2&&(i.children=l>3?Xt.call(arguments,2):n),rt(e,i,o,s,null)}function rt(e,t,n,o,s){var a={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:st,__v:s||++jn,__i:-1,__u:0};return!s&&V.vnode&&V.vnode(a),a}function Et(e){return e.children}function Xe(e,t){this.props=e,this.context=t,this.__g=0}function Ae(e,t){if(t==null)return e.__&&Ae(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:Ae(e)}function Ar(e){var t,n=e.__v,o=n.__e,s=[],a=[],i=e.__P;i&&((t=Ke({constructor:st},n)).__v=n.__v+1,V.vnode&&V.vnode(t),Zt(i,t,n,e.__n,i.namespaceURI,32&n.__u?[o]:null,s,o||Ae(n),32&n.__u,a),t.__v=n.__v,t.__.__k[t.__i]=t,Jn(s,t,a),n.__=n.__e=null,t.__e!=o&&Hn(t))}function Hn(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),Hn(e)}function Pn(e){(8&e.__g||(e.__g|=8,Oe.push(e),yt++))&&Jt==V.debounceRendering||((Jt=V.debounceRendering)||queueMicrotask)(Bn)}function Bn(){try{for(var e,t=1;Oe.length;)Oe.length>t&&Oe.sort(qn),e=Oe.shift(),t=Oe.length,8&e.__g&&Ar(e)}finally{(yt=Oe.length)&&(Jt||queueMicrotask)(Bn)}}function Kn(e,t,n,o,s,a,i,l,p,d,c){var h,m,u,f,g,$,w=o.__k||kt,y=t.length;for(p=Ir(n,t,w,p,y),h=0;h<y;h++)(u=n.__k[h])!=null&&(m=~u.__i&&w[u.__i]||wt,u.__i=h,$=Zt(e,u,m,s,a,i,l,p,d,c),f=u.__e,(m.ref!=u.ref||8&m.__u)&&(m.ref&&en(m.ref,null,u,m),u.ref&&c.push(u.ref,u.__c||f,u)),g=g||f,4&u.__u?(p=zn(u,p,e,!m.__v),m.__e&&(m.__e=null)):typeof u.type=="function"&&$!==void 0?p=$:f&&(p=f.nextSibling),u.__u&=-21);return n.__e=g,p}function Ir(e,t,n,o,s){var a,i,l,p,d,c,h,m,u,f=n.length,g=f,$=0,w=0,y=e.__k=Array(s);for(a=0;a<s;a++)(i=t[a])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=y[a]=rt(null,i):Yt(i)?i=y[a]=rt(Et,{children:i}):i.constructor===st&&i.__b?i=y[a]=rt(i.type,i.props,i.key,i.ref,i.__v):y[a]=i,p=a+$,i.__=e,i.__b=e.__b+1,l=null,~(d=i.__i=Nr(i,n,p,g))&&(g--,(l=n[d])&&(l.__u|=2)),l&&l.__v?(i.__u|=16,d==p-1?$--:d==p+1?$++:d!=p&&(d>p?$--:$++,w=1)):(~d||(s>f?$--:s<f&&$++),typeof i.type!="function"&&(i.__u|=4))):y[a]=null;if(w){for(c=[],h=[],a=0;a<s;a++)if((i=y[a])&&16&i.__u){for($=0,m=c.length;$<m;)c[u=$+m>>1]<i.__i?$=u+1:m=u;c[$]=i.__i,h[a]=$+1}for($=c.length;a--;)h[a]&&(h[a]==$?$--:y[a].__u|=4)}if(g)for(a=0;a<f;a++)!(l=n[a])||2&l.__u||(l.__e==o&&(o=Ae(l)),tn(l,l));return o}function zn(e,t,n,o){var s,a,i,l;if(typeof e.type=="function"){if(e.props.__P)return t;if(s=e.__k)for(a=0;a<s.length;a++)s[a]&&(s[a].__=e,t=zn(s[a],t,n,!1));return t}for(t&&!t.parentNode&&(t=Ae(e))&&!t.parentNode&&(t=null),i=e.__e,l=t;l&&l.nodeType==8;)l=l.nextSibling;for(i!=l&&(!o&&n.moveBefore&&i.parentNode?n.moveBefore(i,t):n.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function Nr(e,t,n,o){var s,a=e.key,i=e.type,l=t[n],p=l&&!(2&l.__u);if(l===null&&a==null||p&&a==l.key&&i==l.type)return n;if(o>(p?1:0)){for(s=n-1;s>=0;s--)if((l=t[s])&&!(2&l.__u)&&a==l.key&&i==l.type)return s;for(s=n+1;s<t.length;s++)if((l=t[s])&&!(2&l.__u)&&a==l.key&&i==l.type)return s}return-1}function Fn(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function gt(e,t,n,o,s){var a,i;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||Fn(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||Fn(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(i=Gt[t]||(Gt[t]=Mr(t)),(e.__a||(e.__a={}))[t]=Qt,a=t!=(t=t.replace(Un,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,i,a):e.removeEventListener(t,i,a));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function Mr(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[vt]==null)t[vt]=Qt++;else if(t[vt]<this.__a[e])return;return n(V.event?V.event(t):t)}}}function Zt(e,t,n,o,s,a,i,l,p,d){var c,h,m,u,f,g,$,w,y,S,A,k,D,j,Q,U,q,K,ne=t.type;if(t.constructor!==st)return null;128&n.__u&&(p=32&n.__u,c=n.__c.__z)&&(t.__u|=p,h=a=[],c.nodeType==8?l=bt(c,a):a.push(c),l=a[0]||l),(c=V.__b)&&c(t);e:if(typeof ne=="function"){m=i.length;try{if(w=t.props,y=(c=ne.prototype)&&c.render,S=(c=ne.contextType)&&o[c.__c],A=c?S?S.props.value:c.__:o,(u=n.__c)?(t.__c=u,2&u.__g&&(u.__g|=1)):(y?t.__c=u=new ne(w,A):(t.__c=u=new Xe(w,A),u.constructor=ne,u.render=Pr),S&&S.sub(u),u.state||(u.state={}),u.__n=o,u.__g|=8,u.__h=[],u.__k=[]),y&&(u.__s||(u.__s=u.state),ne.getDerivedStateFromProps&&(u.__s==u.state&&(u.__s=Ke({},u.__s)),Ke(u.__s,ne.getDerivedStateFromProps(w,u.__s)))),f=u.props,g=u.state,u.__v=t,n.__c){if(w!==f&&y&&!ne.getDerivedStateFromProps&&u.componentWillReceiveProps&&u.componentWillReceiveProps(w,A),t.__v==n.__v&&!(8&u.__g)||!(4&u.__g)&&u.shouldComponentUpdate&&u.shouldComponentUpdate(w,u.__s,A)===!1){t.__v!=n.__v&&(u.props=w,u.state=u.__s,u.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(v){v&&(v.__=t)}),kt.push.apply(u.__h,u.__k),u.__k=[],u.__h.length&&i.push(u),l=Ae(n);break e}u.componentWillUpdate&&u.componentWillUpdate(w,u.__s,A),y&&u.componentDidUpdate&&u.__h.push(function(){u.componentDidUpdate(f,g,$)})}else y&&!ne.getDerivedStateFromProps&&u.componentWillMount&&u.componentWillMount(),y&&u.componentDidMount&&u.__h.push(u.componentDidMount);u.context=A,u.props=w,u.__P=e,u.__g&=-5,k=V.__r,D=y?25:0;do u.__g&=-9,k&&k(t),c=u.render(u.props,u.state=u.__s,u.context);while(8&u.__g&&++D<25);y&&(kt.push.apply(u.__h,u.__k),u.__k=[]),u.state=u.__s,u.getChildContext&&(o=Ke({},o,u.getChildContext())),y&&n.__c&&u.getSnapshotBeforeUpdate&&($=u.getSnapshotBeforeUpdate(f,g)),j=c&&c.type===Et&&c.key==null?c.props.children:c,w.__P&&(c=l,s=(e=w.__P).namespaceURI,p=a=null,n.props&&n.props.__P!=e&&(n.__k.some(function(v){v&&tn(v,v)}),n.__k=null),l=n.__k?Ae(n,0):null),l=Kn(e,Yt(j)?j:[j],t,n,o,s,a,i,l,p,d),w.__P&&(t.__e=null,l=c),t.__u&=-161,h&&h.some(Be),u.__h.length&&i.push(u),1&u.__g&&(u.__g&=-4)}catch(v){if(i.length=m,t.__v=null,p||a)if(v&&v.then){if(t.__u|=128|p,a){for(~(q=a.indexOf(l||void 0))||(q=a.length);(K=a[q-1])&&K.nodeType==8;)q--;for(;q<a.length;q++)if(K=a[q])if(a[q]=null,Q){if(K==U)break}else{if(K.nodeType!=8)break;K.data.startsWith("$s")&&(U=bt(Q=K))}}if(!Q){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;Q=l}(c=bt(Q=t.__c.__z||(t.__c.__z=Q)))?(t.__e=Q,l=c):t.__e=l,l=l&&l.nextSibling}else a&&a.some(Be);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),v&&v.then||Vn(t),V.__e(v,t,n)}}else l=t.__e=Lr(n.__e,t,n,o,s,a,i,p,d,e);return(c=V.diffed)&&c(t),l}function bt(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function Vn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(Vn))}function Jn(e,t,n){for(var o=0;o<n.length;)en(n[o++],n[o++],n[o++]);V.__c&&V.__c(t,e),e.some(function(s){try{e=s.__h,s.__h=[],e.some(function(a){a.call(s)})}catch(a){V.__e(a,s.__v)}})}function Lr(e,t,n,o,s,a,i,l,p,d){var c,h,m,u,f,g,$,w,y=n.props||wt,S=t.props,A=t.type;if(A=="svg"?s="http://www.w3.org/2000/svg":A=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),a){for(c=0;c<a.length;c++)if((f=a[c])&&(A?f.localName==A:f.nodeType==3)){e=f,a[c]=null;break}}if(!e){if(w=d.ownerDocument||document,!A)return w.createTextNode(S);e=w.createElementNS(s,A,S.is?S:d),l&&(V.__m&&V.__m(t,a),l=!1),a=null}if(A){if(d=A=="template"&&e.content||e,a=A=="textarea"&&S.defaultValue!=null?null:a&&Xt.call(d.childNodes),!l&&a)for(y={},c=0;c<e.attributes.length;c++)y[(f=e.attributes[c]).name]=f.value;for(c in y)f=y[c],c=="dangerouslySetInnerHTML"?m=f:c=="children"||c in S||c=="value"&&"defaultValue"in S||c=="checked"&&"defaultChecked"in S||gt(e,c,null,f,s);for(c in S)f=S[c],c=="children"?u=f:c=="dangerouslySetInnerHTML"?h=f:c=="value"?g=f:c=="checked"?$=f:l&&typeof f!="function"||y[c]===f||gt(e,c,f,y[c],s);h?(l||m&&(h.__html==m.__html||h.__html==e.innerHTML)||(e.innerHTML=h.__html),t.__k=[]):(m&&(e.textContent=""),(A=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&Or.test(A))&&(s="http://www.w3.org/1999/xhtml"),Kn(d,Yt(u)?u:[u],t,n,o,s,a,i,a?a[0]:n.__k&&Ae(n,0),l,p),a&&a.some(Be)),l&&A!="textarea"||(c="value",A=="progress"&&g==null?e.removeAttribute(c):g==null||g===e[c]&&(A!="progress"||g)||gt(e,c,g,y[c],s),c="checked",$!=null&&$!=e[c]&&gt(e,c,$,y[c],s))}else y===S||l&&e.data==S||(e.data=S);return e}function en(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){V.__e(s,n)}}function tn(e,t,n){var o,s,a,i;if(V.unmount&&V.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||en(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){V.__e(l,t)}o.__P=o.__n=null}if(o=e.__k)for(i=0;i<o.length;i++)o[i]&&tn(o[i],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(s=bt(o,a=[]))&&(o==e.__e&&a.some(Be),Be(s),Be(o)),n||Be(e.__e),e.__e=e.__c=e.__=null}function Pr(e,t,n){return this.constructor(e,n)}function Gn(e,t){var n,o,s,a;V.__&&V.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=rt(Et,{children:[e]}),s=[],a=[],Zt(t,t.__k,o||wt,wt,t.namespaceURI,o?null:t.firstChild?Xt.call(t.childNodes):null,s,o?o.__e:t.firstChild,n,a),Jn(s,t.__k,a),t.__k.props.children=null}V={__e:function(e,t,n,o){for(var s,a,i;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((i=(a=s.constructor)&&a.getDerivedStateFromError)&&s.setState(a.getDerivedStateFromError(e)),s.componentDidCatch&&(s.componentDidCatch(e,o||{}),i=1),i&&8&s.__g)return void(s.__g|=2)}catch(l){e=l}}throw yt=0,e}},jn=0,Dr=function(e){return e!=null&&e.constructor===st},Xe.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=Ke({},this.state)),typeof e=="function"&&(e=e(Ke({},n),this.props)),e&&(Ke(n,e),this.__v&&(t&&this.__k.push(t),Pn(this)))},Xe.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),Pn(this))},Xe.prototype.render=Et,Oe=[],yt=0,qn=function(e,t){return e.__v.__b-t.__v.__b},vt=Symbol(),Un=/(PointerCapture)$|Capture$/i,Qt=0,Gt={},Rr=0;var ze,te,nn,Qn,on=Object.is,xt=0,so=[],rn=[],ee=V,Yn=ee.__b,Xn=ee.__r,Zn=ee.diffed,eo=ee.__c,to=ee.unmount,no=ee.__;function it(e,t){ee.__h&&ee.__h(te,e,xt||t),xt=0;var n=te.__H||(te.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function _(e){return xt=1,Fr(ao,e)}function Fr(e,t,n){var o=it(ze++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):ao(void 0,t),function(a){var i=(o.__N||o.__)[0],l=o.t(i,a);on(i,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=te,!te.__f)){te.__f=!0;var s=te.shouldComponentUpdate;te.shouldComponentUpdate=function(a,i,l){var p=this.__H;if(!p)return!0;var d=!1,c=this.props!=a;if(p.__.some(function(m){m.__N&&(d=!0,on(m.__[0],m.__N[0])||(c=!0))}),s){var h=s.call(this,a,i,l);return d?h||c:h}return!d||c}}return o.__}function T(e,t){var n=it(ze++,3);!ee.__s&&an(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,te.__H.__h.push(n))}function lt(e,t){var n=it(ze++,4);!ee.__s&&an(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,te.__h.push(n))}function Y(e){return xt=5,ce(function(){return{current:e}},[])}function ce(e,t){var n=it(ze++,7);return an(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function ct(){var e=it(ze++,11);if(!e.__){for(var t=te.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function jr(){var e;do{for(;e=rn.shift();)try{at(e)}catch(n){ee.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=so.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(at),t.__h.some(sn),t.__h=[]}catch(n){t.__h=[],ee.__e(n,e.__v)}}}while(rn.length)}ee.__b=function(e){te=null,Yn&&Yn(e)},ee.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),no&&no(e,t)},ee.__r=function(e){Xn&&Xn(e),ze=0;var t=(te=e.__c).__H;t&&(nn==te?te.__h=[]:(t.__h.some(at),t.__h.some(sn),ze=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),nn=te},ee.diffed=function(e){Zn&&Zn(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&ro(so.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),nn=te=null},ee.__c=function(e,t){t.some(function(n){try{n.__h.some(at),n.__h=n.__h.filter(function(o){return!o.__||sn(o)})}catch(o){n.__h=[function(){throw o}]}}),eo&&eo(e,t)},ee.unmount=function(e){to&&to(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}s.__P=n,ro(rn.push(s))}else at(s)}catch(a){t=a}}),o.__H=void 0,t&&ee.__e(t,o.__v))};var oo=typeof requestAnimationFrame=="function";function qr(e){var t,n=function(){clearTimeout(o),oo&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);oo&&(t=requestAnimationFrame(n))}function ro(e){e!=1&&Qn==ee.requestAnimationFrame||((Qn=ee.requestAnimationFrame)||qr)(jr)}function at(e){var t=te,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),te=t}function sn(e){var t=te;e.__c=e.__(),te=t}function an(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!on(n,e[o])})}function ao(e,t){return typeof t=="function"?t(e):t}var lo=function(e,t,n,o){var s;t[0]=0;for(var a=1;a<t.length;a++){var i=t[a++],l=t[a]?(t[0]|=i?1:2,n[t[a++]]):t[++a];i===3?o[0]=l:i===4?o[1]=Object.assign(o[1]||{},l):i===5?(o[1]=o[1]||{})[t[++a]]=l:i===6?o[1][t[++a]]+=l+"":i?(s=e.apply(l,lo(e,l,n,["",null])),o.push(s),l[0]?t[0]|=2:(t[a-2]=0,t[a]=s)):o.push(l)}return o},io=new Map;function co(e){var t=io.get(this);return t||(t=new Map,io.set(this,t)),(t=lo(this,t.get(e)||(t.set(e,t=(function(n){for(var o,s,a=1,i="",l="",p=[0],d=function(m){a===1&&(m||(i=i.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?p.push(0,m,i):a===3&&(m||i)?(p.push(3,m,i),a=2):a===2&&i==="..."&&m?p.push(4,m,0):a===2&&i&&!m?p.push(5,0,!0,i):a>=5&&((i||!m&&a===5)&&(p.push(a,0,i,s),a=6),m&&(p.push(a,m,0,s),a=6)),i=""},c=0;c<n.length;c++){c&&(a===1&&d(),d(c));for(var h=0;h<n[c].length;h++)o=n[c][h],a===1?o==="<"?(d(),p=[p],a=3):i+=o:a===4?i==="--"&&o===">"?(a=1,i=""):i=o+i[0]:l?o===l?l="":i+=o:o==='"'||o==="'"?l=o:o===">"?(d(),a=1):a&&(o==="="?(a=5,s=i,i=""):o==="/"&&(a<5||n[c][h+1]===">")?(d(),a===3&&(p=p[0]),a=p,(p=p[0]).push(2,0,a),a=0):o===" "||o==="	"||o===`
`||o==="\r"?(d(),a=2):i+=o),a===3&&i==="!--"&&(a=4,p=p[0])}return d(),p})(e)),t),arguments,[])).length>1?t:t[0]}var r=co.bind(Wn);function ue(e){let t=new Set;return{get:()=>e,set(n){if(!Object.is(n,e)){e=n;for(let o of[...t])o(e)}},subscribe(n){return t.add(n),()=>t.delete(n)}}}function J(e){let[t,n]=_(e.get());return T(()=>(n(e.get()),e.subscribe(n)),[e]),t}function Tt(e,t){let n=t;try{n=localStorage.getItem(e)??t}catch{}let o=ue(n);return o.subscribe(s=>{try{localStorage.setItem(e,s)}catch{}}),o}var St=()=>location.pathname+location.search,Ve=ue(St()),uo=0;addEventListener("popstate",()=>Ve.set(St()));function pe(e,{replace:t=!1}={}){e!==St()&&(t?history.replaceState(history.state,"",e):(uo++,history.pushState({depth:uo},"",e)),Ve.set(St()))}function po(){history.state?.depth>0?history.back():pe("/")}document.addEventListener("click",e=>{if(e.defaultPrevented||e.button!==0||e.metaKey||e.ctrlKey||e.shiftKey||e.altKey)return;let t=e.target.closest?.("a[href]");!t||t.target||t.hasAttribute("download")||t.origin!==location.origin||t.pathname.startsWith("/v1/")||(e.preventDefault(),t.hash&&t.pathname===location.pathname?document.getElementById(t.hash.slice(1))?.focus():pe(t.pathname+t.search))});function F(){let e=J(Ve);return[ce(()=>new URLSearchParams(e.split("?")[1]??""),[e]),(o,{replace:s=!0}={})=>{let a=new URLSearchParams(location.search);for(let[l,p]of Object.entries(o)){a.delete(l);for(let d of[p].flat())d&&a.append(l,d)}let i=a.toString();pe(location.pathname+(i?`?${i}`:""),{replace:s})}]}function oe(e){T(()=>{document.title=e?`${e} · Gatekeeper`:"Gatekeeper"},[e])}function mo(e,t){for(let[n,o]of t){let s=n.exec(e);if(s)try{return[o,s.slice(1).map(decodeURIComponent)]}catch{return null}}return null}function ye(e,t,n=200){let[o,s]=_(e);return T(()=>s(e),[e]),T(()=>{if(o===e)return;let a=setTimeout(()=>t(o),n);return()=>clearTimeout(a)},[o]),[o,s]}var we=ue({online:!0}),Ie=ue(0),ut=null;function Ct(){we.get().online||(clearTimeout(ut),ut=null,we.set({online:!0}),Ie.set(Ie.get()+1))}function pt(e){let t=we.get();we.set({online:!1,since:t.since??Date.now(),message:e}),ut===null&&(ut=setTimeout(fo,1e3))}async function fo(){try{let e=await fetch("/v1/definitions?page_size=1",{signal:AbortSignal.timeout(1e4)});if(e.status<500)return Ct();let t=await e.json().catch(()=>null);t?.message&&we.set({...we.get(),message:t.message})}catch{}we.get().online||(ut=setTimeout(fo,1e3))}var Ne=class extends Error{constructor(t,n){super(n?.message||(t?`The server answered with status ${t}.`:"The server does not answer.")),this.name="APIError",this.status=t,this.code=n?.code??(t?"":"UNAVAILABLE"),this.reason=n?.reason??"",this.metadata=n?.metadata??{},this.fields=n?.fields??[],this.offline=t===0||t===502||t===503||t===504}};function re(e,...t){return String.raw({raw:e},...t.map(n=>encodeURIComponent(n)))}function Dt(e={}){let t=new URLSearchParams;for(let[o,s]of Object.entries(e))for(let a of Array.isArray(s)?s:[s])a!=null&&a!==""&&a!==!1&&a!==0&&t.append(o,a);let n=t.toString();return n?`?${n}`:""}var ln=0n,ho=0,Ze=()=>Date.now()+ho;function Rt(){let e=crypto.getRandomValues(new Uint8Array(16));return{request_id:`dashboard-${Array.from(e,n=>n.toString(16).padStart(2,"0")).join("")}`,request_revision:ln.toString()}}function Ur(e){try{let t=BigInt(e?.revision??0);t>ln&&(ln=t)}catch{}}async function Je(e,t,{query:n,body:o,signal:s}={}){let a={method:e,signal:s,headers:{Accept:"application/json"}};o!==void 0&&(a.headers["Content-Type"]="application/json",a.body=JSON.stringify(o));let i,l=null;try{i=await fetch(t+Dt(n),a),l=i.ok?await i.json():await i.json().catch(()=>null)}catch(p){throw s?.aborted?p:(pt("The server does not answer."),new Ne(0))}return Ot(i,l)}function Ot(e,t){let n=Date.parse(e.headers.get("Date")??"");if(n){let s=n-Date.now();ho=Math.abs(s)>2e3?s:0}if(e.ok)return Ct(),Ur(t),t??{};let o=new Ne(e.status,t);throw o.offline?pt(o.message):Ct(),e.status===401&&Wr(),o}var At=e=>e<40?1e4:e<300?3e4:6e4,x=(e,t,n)=>Je("GET",e,{query:t,signal:n}),C=(e,t,n)=>Je("POST",e,{body:t,signal:n});function Wr(){if(location.pathname==="/login")return;let e=location.pathname+location.search;history.replaceState(null,"",`/login${Dt({next:e==="/"?"":e})}`),dispatchEvent(new PopStateEvent("popstate"))}async function ke(e,t,n,o,s=5e3){let a=[],i="";do{let l=await x(e,{page_size:1e3,...t,page_token:i},o);a.push(...l[n]??[]),i=l.next_page_token??""}while(i&&a.length<s);return{items:a,more:i!==""}}var Ee=ue(null),Nt=Tt("author",""),de=()=>Ee.get()?.authenticated?{}:{author:Nt.get()||"dashboard"};async function cn(){let e=await x("/session");Ee.set({authenticates:e.authenticated??!1,...e}),It.clear()}async function $o(e){await Je("POST","/session",{body:{token:e}}),await cn()}async function _o(){await Je("DELETE","/session"),Ee.set(null)}var It=new Map;function Hr(e){let t=JSON.stringify(e),n=It.get(t);return(!n||n.at<Date.now()-6e4)&&(n={at:Date.now(),answer:C("/v1/can-i",e)},n.answer.catch(()=>It.delete(t)),It.set(t,n)),n.answer}var Br={ROLE_OPERATOR:"It needs the role operator there.",ROLE_EDITOR:"It needs the role editor there.",ROLE_ADMIN:"It needs the role admin.",ROLE_ACQUIRER:"It needs the role acquirer there."};function go(e,t="",n="",o=""){let s=J(Ee),[a,i]=_("");return T(()=>{if(!e||!s?.authenticated)return i("");let l=!1;return Hr({role:e,semaphore:t,group:n,acquirer:o}).then(p=>l||i(p.allowed?"":`You may not: ${p.reason}. ${Br[e]} An administrator can grant it.`),()=>l||i("")),()=>l=!0},[e,t,n,o,s]),a}var b=e=>Number(e??0).toLocaleString("en"),R=(e,t,n)=>`${b(e)} ${Number(e)===1?t:n}`,I=e=>e?Math.round(parseFloat(e)*1e3):0;function ge(e){if(!e)return"0s";if(e<0)return`-${ge(-e)}`;let t="";for(let[n,o]of[["h",36e5],["m",6e4]]){let s=Math.floor(e/o);s&&(t+=s+n),e-=s*o}return e>=1e3||e&&t?t+=`${+(e/1e3).toFixed(3)}s`:e&&(t+=`${+e.toFixed(3)}ms`),t}function X(e){return e<0?"0s":e<1e4?ge(Math.round(e/100)*100):e<36e5?ge(Math.round(e/1e3)*1e3):e<48*36e5?ge(Math.round(e/6e4)*6e4):`${Math.floor(e/864e5)}d`}var et=e=>X(Math.max(0,Math.round(e/1e3))*1e3),Kr={ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function Te(e){if(e=e.trim(),e==="")return;if(e==="0")return"0s";let t=0;if(e.replace(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g,(o,s,a)=>(t+=parseFloat(s)*Kr[a],""))!=="")throw new Error(`“${e}” is not a duration. Write it as 90s, 5m, 1h30m or 2d.`);return`${+(t/1e3).toFixed(3)}s`}var Ge=e=>e==null?"":ge(I(e));var dt=e=>String(e).padStart(2,"0");function M(e){if(!e)return"";let t=new Date(e);return`${`${t.getFullYear()}-${dt(t.getMonth()+1)}-${dt(t.getDate())}`} ${Mt(t)}`}var Mt=e=>`${dt(e.getHours())}:${dt(e.getMinutes())}:${dt(e.getSeconds())}`;function tt(e){if(!e)return"";let t=new Date(e);return t.toDateString()===new Date(Ze()).toDateString()?Mt(t):M(e)}function ve(e){if(e=Number(e??0),e<1024)return`${e} B`;let t=-1;do e/=1024,t++;while(e>=1024&&t<3);return`${e<10?e.toFixed(1):Math.round(e)} ${["KiB","MiB","GiB","TiB"][t]}`}function Me(e,t=3){let n=e.length-t;return e.slice(0,t).join(", ")+(n>0?` and ${b(n)} more`:"")}function un(e){if(!e)return"";let t=Uint8Array.from(atob(e),n=>n.charCodeAt(0));try{return new TextDecoder("utf-8",{fatal:!0}).decode(t)}catch{return Array.from(t,n=>n.toString(16).padStart(2,"0")).join(" ")}}var zr=4e4,Vr=5e3;function bo(e,t,n){let o=!1,s=0,a=!1,i="",l=null,p=null,d=()=>{clearTimeout(p),l?.abort(),l=null},c=()=>{o=!0,d(),document.removeEventListener("visibilitychange",h)},h=()=>{document.hidden?d():l||u()},m=f=>{if(f.id&&(i=f.id),!f.data)return;let g=JSON.parse(f.data);if(f.type==="end")c(),n.end?.();else if(f.type==="error"){let $=new Ne(g.status??500,g);vo(g.code)||(c(),n.error?.($))}else n[f.type]?.(g,f.id)};async function u(){clearTimeout(p);let f=l=new AbortController,g=null,$=()=>{clearTimeout(g),g=setTimeout(()=>f.abort(),zr)};try{$();let w={Accept:"text/event-stream"};i&&(w["Last-Event-ID"]=i);let y=await fetch(e+Dt(t),{headers:w,signal:f.signal});if(!y.ok||!y.headers.get("Content-Type")?.startsWith("text/event-stream"))throw Ot(y,await y.json().catch(()=>null)),new Ne(500,{message:"The answer is not a stream of events."});s=0,Ot(y,{}),n.open?.(a),a=!0,await Jr(y.body,S=>!o&&m(S),$)}catch(w){w instanceof Ne?!w.offline&&!vo(w.code)&&w.status!==401?(c(),n.error?.(w)):w.status===401&&c():f.signal.aborted||pt("The connection to the server broke.")}finally{clearTimeout(g)}o||l!==f||(l=null,!document.hidden&&(s++,p=setTimeout(u,Math.min(Vr,500*s)*(.75+Math.random()/2))))}return document.addEventListener("visibilitychange",h),document.hidden||u(),c}var vo=e=>["UNAVAILABLE","ABORTED","CANCELLED","DEADLINE_EXCEEDED","RESOURCE_EXHAUSTED","UNKNOWN"].includes(e);async function Jr(e,t,n){let o=e.pipeThrough(new TextDecoderStream).getReader(),s="",a={type:"message",id:"",data:""};for(;;){let{value:i,done:l}=await o.read();if(l)return;n();let p=(s+i).split(`
`);s=p.pop();for(let d of p){if(d.endsWith("\r")&&(d=d.slice(0,-1)),d===""){t(a),a={type:"message",id:"",data:""};continue}let c=d.indexOf(":");if(c<=0)continue;let h=d.slice(c+1).replace(/^ /,"");switch(d.slice(0,c)){case"event":a.type=h;break;case"id":a.id=h;break;case"data":a.data+=h}}}}function E(e,t,{every:n=0,keep:o=!1}={}){let[s,a]=_({}),[i,l]=_(0),p=J(Ie),d=JSON.stringify(t),c=Y(e);c.current=e,T(()=>{if(e===null)return;let u=new AbortController;return c.current(u.signal).then(f=>u.signal.aborted||a({data:f,key:d}),f=>u.signal.aborted||a(g=>({...g,error:f,failed:d}))),()=>u.abort()},[d,i,p,e===null]),T(()=>{if(!n)return;let u=setInterval(()=>document.hidden||l(f=>f+1),n);return()=>clearInterval(u)},[n]);let h=s.key===d,m=s.failed===d?s.error:void 0;return{data:h||o?s.data:void 0,error:m,loading:!h&&!m,refresh:()=>l(u=>u+1),set:u=>a(f=>({...f,data:u(f.data)}))}}function Se(e,t,n){let o=Y(n);o.current=n;let s=JSON.stringify([e,t]);T(()=>{if(!e)return;let a=i=>(...l)=>o.current[i]?.(...l);return bo(e,t,{message:a("message"),live:a("live"),missed:a("missed"),open:a("open"),error:a("error"),end:a("end")})},[s])}var pn=ue(0),yo=null,wo=0;function Re(){return T(()=>(wo++===0&&(yo=setInterval(()=>document.hidden||pn.set(pn.get()+1),1e3)),()=>{--wo===0&&clearInterval(yo)}),[]),J(pn)}function Le(e,t,{rest:n=t,burst:o=4}={}){let s=Y(e);s.current=e;let a=Y(null),i=Y(0);return T(()=>()=>clearTimeout(a.current),[]),()=>{if(a.current!==null)return;let l=performance.now();i.current=Math.max(i.current,l)+n,a.current=setTimeout(()=>{a.current=null,s.current()},Math.max(t,i.current-l-o*n))}}function Lt(e){let[t,n]=_(()=>matchMedia(e).matches);return T(()=>{let o=matchMedia(e),s=()=>n(o.matches);return o.addEventListener("change",s),()=>o.removeEventListener("change",s)},[e]),t}function me({what:e="Reading"}){return r`<p class="loading" role="status"><span class="dots" aria-hidden="true"></span>${e} …</p>`}function O({title:e,children:t}){return r`<div class="empty"><p class="empty-title">${e}</p>${t&&r`<p>${t}</p>`}</div>`}var ko={PERMISSION_DENIED:"An administrator can grant you the role.",UNAUTHENTICATED:"Log in again."};function B({error:e,retry:t}){if(!e)return null;let n=e.fields??[];return r`<div class="failure" role="alert">
    <p class="failure-text">${Eo(e.message)}</p>
    ${ko[e.code]&&r`<p>${ko[e.code]}</p>`}
    ${n.length>0&&r`<ul>${n.map(o=>r`<li><code>${o.field}</code>: ${o.rule}</li>`)}</ul>`}
    ${e.offline&&r`<p>Whether a change was made is then not known. The activity page shows it. The same button again does nothing twice.</p>`}
    <p class="row">
      ${t&&r`<button type="button" onClick=${t}>Try again</button>`}
      ${(e.reason||e.code)&&r`<span class="faint">${e.reason||e.code}</span>`}
    </p>
  </div>`}var Eo=(e="")=>{let t=e.charAt(0).toUpperCase()+e.slice(1);return/[.!?…]$/.test(t)?t:`${t}.`};function z({of:e,what:t,children:n}){return e.data===void 0?e.error&&!e.error.offline?r`<${B} error=${e.error} retry=${e.refresh} />`:r`<${me} what=${t} />`:r`${e.error&&!e.error.offline&&r`<${B} error=${e.error} retry=${e.refresh} />`}${n(e.data)}`}function xo(){let e=J(we);return Re(),e.online?r`<div role="status" class="sr-only"></div>`:r`<div class="offline" role="status">
    <strong>${Eo(e.message)}</strong>
    <span> What is shown is as of ${Mt(new Date(e.since))}. This page asks again every second, and recovers without you.</span>
  </div>`}var mt=ue([]),Gr=0;function $e(e,{tone:t="run",action:n}={}){mt.set([...mt.get().slice(-2),{id:++Gr,text:e,tone:t,action:n}])}var dn=e=>mt.set(mt.get().filter(t=>t.id!==e));function Qr({id:e,text:t,tone:n,action:o}){return T(()=>{let s=setTimeout(()=>dn(e),o?3e4:12e3);return()=>clearTimeout(s)},[e]),r`<div class="notice tone-${n}">
    <span>${t}</span>
    ${o&&r`<button type="button" onClick=${()=>(dn(e),o.run())}>${o.text}</button>`}
    <button type="button" class="plain" aria-label="Dismiss" onClick=${()=>dn(e)}>×</button>
  </div>`}function To(){let e=J(mt);return r`<div class="notices" role="status">${e.map(t=>r`<${Qr} key=${t.id} ...${t} />`)}</div>`}function W({role:e,semaphore:t,group:n,acquirer:o,why:s,kind:a="",children:i,onClick:l,type:p="button",...d}){let c=go(e,t,n,o),h=ct(),m=c||s;return r`<span class="action">
    <button
      type=${m?"button":p}
      class=${a}
      aria-disabled=${m?"true":void 0}
      aria-describedby=${m?h:void 0}
      onClick=${m?void 0:l}
      ...${d}
    >${i}</button>
    ${m&&r`<span class="why" role="tooltip" id=${h}>${m}</span>`}
  </span>`}function le({title:e,onClose:t,wide:n,children:o}){let s=Y(null),a=ct();return lt(()=>{let i=document.activeElement,l=s.current;return l.showModal(),()=>{l.close(),i?.isConnected&&i.focus()}},[]),r`<dialog
    ref=${s}
    class=${n?"wide":""}
    aria-labelledby=${a}
    onCancel=${i=>(i.preventDefault(),t())}
    onMouseDown=${i=>i.target===s.current&&t()}
  >
    <div class="dialog-body">
      <header class="dialog-head">
        <h2 id=${a}>${e}</h2>
        <button type="button" class="plain" aria-label="Close" onClick=${t}>×</button>
      </header>
      ${o}
    </div>
  </dialog>`}function So({label:e,help:t,error:n,children:o,class:s=""}){let a=ct(),i=[t&&`${a}-help`,n&&`${a}-error`].filter(Boolean).join(" ")||void 0;return r`<div class="field ${s}">
    <label for=${a}>${e}</label>
    ${o({id:a,"aria-describedby":i,"aria-invalid":n?"true":void 0})}
    ${t&&r`<p class="help" id="${a}-help">${t}</p>`}
    ${n&&r`<p class="error" id="${a}-error" role="alert">${n}</p>`}
  </div>`}function P({label:e,help:t,error:n,value:o,onInput:s,area:a,class:i,...l}){return r`<${So} label=${e} help=${t} error=${n} class=${i}>
    ${p=>a?r`<textarea rows=${a} value=${o} onInput=${d=>s(d.target.value)} ...${p} ...${l}></textarea>`:r`<input value=${o} onInput=${d=>s(d.target.value)} autocomplete="off" spellcheck=${!1} ...${p} ...${l} />`}
  <//>`}function xe({label:e,help:t,value:n,options:o,onChange:s,class:a}){return r`<${So} label=${e} help=${t} class=${a}>
    ${i=>r`<select value=${n} onChange=${l=>s(l.target.value)} ...${i}>
      ${o.map(([l,p])=>r`<option value=${l} selected=${l===n}>${p}</option>`)}
    </select>`}
  <//>`}function ae({label:e,help:t,checked:n,onChange:o}){let s=ct();return r`<div class="check">
    <input type="checkbox" id=${s} checked=${n} aria-describedby=${t?`${s}-help`:void 0} onChange=${a=>o(a.target.checked)} />
    <label for=${s}>${e}</label>
    ${t&&r`<span class="help" id="${s}-help">${t}</span>`}
  </div>`}function nt({of:e,query:t="tab",label:n}){let[o]=F(),s=o.get(t)??e[0][0],a=i=>{let l=new URLSearchParams(o);i===e[0][0]?l.delete(t):l.set(t,i);let p=l.toString();return location.pathname+(p?`?${p}`:"")};return r`<nav class="tabs" aria-label=${n}>
    ${e.map(([i,l])=>r`<a href=${a(i)} aria-current=${i===s?"page":void 0}>${l}</a>`)}
  </nav>`}function Co(e){let t=Y(e);t.current=e,T(()=>{let n=o=>{if(o.defaultPrevented||o.ctrlKey||o.metaKey||o.altKey||document.querySelector("dialog[open]"))return;let s=/^(INPUT|TEXTAREA|SELECT)$/.test(o.target.tagName);s&&o.key!=="Escape"||t.current[o.key]?.(o,s)};return addEventListener("keydown",n),()=>removeEventListener("keydown",n)},[])}function N(e,t){return!e||e===`${t}UNSPECIFIED`?"":e.slice(t.length).toLowerCase().replaceAll("_"," ")}var Pt=[{value:"DEFINITION_STATE_DISABLED",word:"disabled",tone:"deny",help:"A pattern cannot be used: nobody is let in."},{value:"DEFINITION_STATE_DENIED",word:"denied",tone:"deny",help:"Callers are denied, and nobody gets a permit, until somebody acts."},{value:"DEFINITION_STATE_HELD",word:"held for an operator",tone:"stop",help:"A slot is held until an operator clears it."},{value:"DEFINITION_STATE_MISSED",word:"missed",tone:"stop",help:"Expected work is missed: it is silent."},{value:"DEFINITION_STATE_STOPPING",word:"stopping",tone:"stop",help:"A holder must stop."},{value:"DEFINITION_STATE_PAUSED",word:"paused",tone:"pause",help:"Nobody is let in until the pause ends."},{value:"DEFINITION_STATE_WAITING",word:"waiting",tone:"wait",help:"Somebody waits in the queue."},{value:"DEFINITION_STATE_RUNNING",word:"running",tone:"run",help:"Somebody holds a permit."},{value:"DEFINITION_STATE_IDLE",word:"idle",tone:"idle",help:"Nothing takes a slot."}],Yr={value:"",word:"unknown",tone:"idle",help:""},Do=e=>Pt.find(t=>t.value===e)??Yr,ft=e=>Pt.filter(t=>e.states?.includes(t.value));function Ro(e){let t=ft(e)[0];return e.pause&&t?.word==="paused"?e.pause.until?`paused until ${tt(e.pause.until)}`:"paused":t?.word??"unknown"}function Ft(e){let t=[];e.disabled&&t.push(`Disabled: ${e.disabled}`),e.pause&&t.push(Xr(e.pause)),e.missed&&t.push(Zr(e.missed));for(let n of(e.denied??[]).slice(0,1))t.push(`${L(n.identity)} is denied: ${n.message}`);for(let n of e.ends??[])t.push(`${n.fields.join(", ")}: as it is until ${M(n.until)}, then its value of before.`);return[...t,...e.warnings??[]]}function Xr(e){let t=e.until?`Paused until ${M(e.until)}`:"Paused until it is resumed";return e.reason&&(t+=`: ${e.reason}`),e.stop&&(t+=e.drain?`. Holders must stop within ${X(I(e.drain))}`:". Holders must stop"),`${t}. By ${e.author||"somebody"}.`}function Zr(e){let t=N(e.kind,"MISSED_KIND_");return e.text||`Missed: ${t}${e.reason?` (${N(e.reason,"REASON_")})`:""}`}var L=e=>`${e?.acquirer??""} in ${e?.group||"default"}`;function Oo(e){let t=N(e.state,"PERMIT_STATE_")||"live";t==="held"&&(t="held for an operator"),e.drain_left&&(t+=`, draining for ${X(I(e.drain_left))}`);let n=N(e.stop,"STOP_CAUSE_");return n&&(t+=`, stopping: ${n}${e.stop_reason?` (${e.stop_reason})`:""}`),t}var Ao=e=>e.state==="PERMIT_STATE_HELD"||e.stop?"stop":e.state==="PERMIT_STATE_COOLING"?"idle":"run";function Fe(e){return e?e.due?`${e.name}@${e.due.replace(/\.000Z$/,"Z")}`:e.name:""}var fe=[{name:"description",kind:"text",label:"Description",help:"Free text for people."},{name:"labels",kind:"labels",label:"Labels",help:"One key=value per line. Commands and filters select by them."},{name:"group_pattern",kind:"pattern",label:"Group pattern",help:"A regular expression (RE2) that the whole group must match."},{name:"acquirer_pattern",kind:"pattern",label:"Acquirer pattern",help:"The same for the acquirer, normally a host."},{name:"permits",kind:"number",label:"Permits",help:"How much weight may be held at once. 0 lets nobody in."},{name:"duration",kind:"duration",label:"Duration",help:"How long a permit lives without a refresh. It bounds how long a dead holder keeps its slot."},{name:"max_hold",kind:"duration",label:"Max hold",help:"A job that holds longer must stop. Empty: no limit."},{name:"min_hold",kind:"duration",label:"Min hold",help:"The slot stays taken at least this long after a grant."},{name:"loss_delay",kind:"duration",label:"Loss delay",help:"After a lost holder the slot stays taken this much longer."},{name:"on_expiry",kind:"choice",prefix:"ON_EXPIRY_",values:["FREE","HOLD"],label:"On expiry",help:"What becomes of the slot of a permit that expired. hold: until an operator clears it."},{name:"takeover",kind:"flag",label:"Takeover",help:"Callers may take over from a holder that they judge dead."},{name:"expect_every",kind:"duration",label:"Expect every",help:"How often this work is expected to ask. Empty: nothing is expected."},{name:"firing_on_loss",kind:"choice",prefix:"FIRING_ON_LOSS_",values:["SPENT","FREE"],label:"Firing on loss",help:"What becomes of a firing whose permit was lost. free: it may be claimed again."},{name:"firing_retention",kind:"duration",label:"Firing retention",help:"How long a firing is remembered after its due time."},{name:"firing_limit",kind:"number",label:"Firing limit",help:"How many firings are remembered at most."},{name:"firing_max_ahead",kind:"duration",label:"Firing max ahead",help:"How far ahead of the leader’s clock a firing may be due. 0: any."},{name:"max_attempts",kind:"number",label:"Max attempts",help:"How many holders may attempt a firing. 0: any number."},{name:"misfire",kind:"choice",prefix:"MISFIRE_",values:["SKIP","ONCE","EACH"],label:"Misfire",help:"What becomes of firings that nobody claimed when they were due."},{name:"misfire_window",kind:"duration",label:"Misfire window",help:"How long ago such a firing may have been due."}];function Pe(e,t){let n=t?.[e.name];switch(e.kind){case"labels":return Object.keys(n??{}).sort().map(o=>n[o]===""?o:`${o}=${n[o]}`).join(", ");case"duration":return Ge(n);case"choice":return N(n,e.prefix)||e.values[0].toLowerCase();case"flag":return n?"yes":"no";case"number":return String(n??0)}return n??""}function mn(e,t){return fe.map(n=>({field:n,before:Pe(n,e),after:Pe(n,t)})).filter(n=>n.before!==n.after)}var fn=(e=[],t=e.length,n=2)=>{let o=e.slice(0,n).map(a=>`${a.acquirer} in ${a.group}`),s=t-o.length;return o.join(", ")+(s>0?` and ${b(s)} more`:"")};function Io(e=[]){let t=e.flatMap(a=>a.stopped??[]);if(t.length===0)return"No holder must stop.";let n=t.filter(a=>a.drain_left).length,o=[];t.length>n&&o.push(`${R(t.length-n,"holder","holders")} must stop`),n&&o.push(`the ${n===1?"drain of 1 holder is":`drains of ${n} holders are`} cut short`);let s=`${o.join(", ")}; every slot is free within ${X(Math.max(...t.map(a=>I(a.free_within))))}.`;return s[0].toUpperCase()+s.slice(1)}function No(e=[],t=[]){let n=new Map;for(let o of e)for(let s of o.warnings??[])n.set(s,[...n.get(s)??[],o.semaphore]);return[...t,...[...n].map(([o,s])=>`${Me(s)}: ${o}`)]}var es=e=>`${e.length===1?"change":"changes"} ${Me(e,5)}`;function hn(e){let t=[];return e.group_pattern&&t.push(`group ${e.group_pattern}`),e.acquirer_pattern&&t.push(`acquirer ${e.acquirer_pattern}`),e.until&&t.push(`until ${M(e.until)}`),t.join(", ")}function Mo(e){let t=[],n=N(e.kind,"EVENT_KIND_");e.until&&n!=="resumed"&&t.push(`until ${M(e.until)}`);let o=e.pause;if(o&&n!=="resumed"&&((n==="created"||n==="deleted")&&t.push("while paused"),o.until&&t.push(`until ${M(o.until)}`),o.stop&&t.push(o.drain?`holders must stop within ${X(I(o.drain))}`:"holders must stop")),e.pause_before&&t.push(`instead of the pause of change ${e.pause_before.change}`),e.cordon&&t.push(`“${e.cordon.id}”, ${hn(e.cordon)}`),e.cordon_before&&t.push(`instead of that of change ${e.cordon_before.change}`),e.firings?.firings?.length){let a=e.firings.firings.map(l=>Fe(l.firing)),i=n==="firings remembered"?"remembered again":"forgotten";t.push(`${R(a.length,"firing","firings")} ${i} (${Me(a)})`)}(e.binding_before||e.binding_after)&&t.push(`binding ${(e.binding_after??e.binding_before).name}`),e.undoes&&e.undoes!=="0"&&t.push(`undoes ${es([e.undoes,...e.also_undoes??[]])}`),e.permit&&t.push(`${L(e.permit.identity)}, token ${e.permit.token}`);let s=N(e.missed,"MISSED_KIND_");return s&&t.push(s),e.drain&&t.push(`drain ${X(I(e.drain))}`),[...new Set(t)].join("; ")}var ts={created:"run",replaced:"accent",deleted:"deny",paused:"pause",resumed:"run",cordoned:"deny",uncordoned:"run",granted:"run",released:"idle",expired:"stop",held:"stop",cleared:"run",stopping:"stop",missed:"stop",heard:"run","freed unsafely":"deny"},Lo=e=>ts[N(e,"EVENT_KIND_")]??"idle",Po=e=>["CREATED","REPLACED","DELETED","PAUSED","RESUMED","CORDONED","UNCORDONED","FIRINGS_FORGOTTEN","FIRINGS_REMEMBERED"].includes(e.kind?.slice(11));function $n(e){let t=N(e.role,"ROLE_");return e.semaphores?.length&&(t+=` on ${e.semaphores.join(", ")}`),e.labels&&(t+=` where ${e.labels}`),e.group&&(t+=` in group ${e.group}`),e.acquirer&&(t+=` as acquirer ${e.acquirer}`),t}function G({caption:e,columns:t,rows:n,rowKey:o,empty:s,note:a}){return n?.length?r`<div class="table-wrap">
    <table>
      <caption class="sr-only">${e}</caption>
      <thead><tr>${t.map(([i,,l])=>r`<th scope="col" class=${l}>${i}</th>`)}</tr></thead>
      <tbody>
        ${n.map((i,l)=>r`<tr key=${o?o(i):l}>
          ${t.map(([p,d,c],h)=>h===0?r`<th scope="row" class=${c} data-label=${p}>${d(i)}</th>`:r`<td class=${c} data-label=${p}>${d(i)}</td>`)}
        </tr>`)}
      </tbody>
    </table>
    ${a&&r`<p class="faint">${a}</p>`}
  </div>`:s??r`<${O} title="Nothing here." />`}function Ce({of:e}){return r`<dl class="facts">
    ${e.filter(([,t])=>t!=null&&t!=="").map(([t,n])=>r`<div><dt>${t}</dt><dd>${n}</dd></div>`)}
  </dl>`}function _e({share:e,tone:t="accent",label:n}){let o=Math.max(0,Math.min(1,e||0));return r`<span class="bar tone-${t}" role="img" aria-label=${n}>
    <span class="bar-fill" style=${{transform:`scaleX(${o.toFixed(4)})`}}></span>
  </span>`}function jt({at:e,of:t,what:n="expires unless it is refreshed"}){if(Re(),!e)return r`<span class="faint">–</span>`;let o=Math.max(0,e-Date.now()),s=t&&o/t<.34;return r`<span class="deadline" title=${n}>
    ${t>0&&r`<${_e} share=${o/t} tone=${s?"wait":"run"} label="${et(o)} left" />`}
    <span class="num">${et(o)}</span>
  </span>`}function ie({at:e}){return Re(),e?r`<time class="num" datetime=${e} title=${new Date(e).toLocaleString()}>${et(Ze()-Date.parse(e))}</time>`:"–"}function Fo({parts:e,total:t,label:n}){let o=0;return r`<svg class="segments" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${n}>
    <rect class="track" x="0" y="0" width="1000" height="10" />
    ${e.filter(([s])=>s>0).map(([s,a])=>{let i=t?1e3*s/t:0,l=r`<rect class="fill-${a}" x=${o} y="0" width=${i} height="10" />`;return o+=i,l})}
  </svg>`}var je=50;function _n({before:e,after:t}){if(!e&&!t)return null;if(!e)return r`<span>created</span>`;if(!t)return r`<span>deleted</span>`;let n=mn(e,t);return n.length===0?r`<span class="faint">–</span>`:r`<ul class="changes">
    ${n.map(o=>r`<li>
        <span class="change-name">${o.field.name}</span>
        <del>${o.before||"(none)"}</del><span class="sr-only"> becomes </span><ins>${o.after||"(none)"}</ins>
      </li>`)}
  </ul>`}function ns({effects:e}){let t=e.flatMap(n=>n.stopped??[]);return t.length===0?null:r`<section>
    <h3>Must stop</h3>
    <${G}
      caption="Holders that must stop"
      rows=${t.slice(0,je)}
      rowKey=${n=>n.permit.token}
      columns=${[["Semaphore",n=>n.permit.semaphore,"name"],["Holder",n=>L(n.permit.identity),"name"],["Token",n=>n.permit.token,"num"],["Since",n=>r`<${ie} at=${n.permit.granted_at} />`,"num"],["Free within",n=>X(I(n.free_within))+(n.drain_left?` (its drain had ${X(I(n.drain_left))} left)`:""),"num"]]}
      note=${t.length>je&&`and ${b(t.length-je)} more`}
    />
  </section>`}function jo({of:e}){let t=e.effects??[],n=t.filter(i=>i.total_admitted||i.total_shut_out||!i.before!=!i.after||mn(i.before,i.after).length),o=No(t,e.warnings),s=t.flatMap(i=>i.held??[]),a=t.filter(i=>Number(i.waiting_tasks));return r`<div class="effects">
    <p class="lead">${Io(t)}</p>
    ${e.confirm?.length>0&&r`<ul class="confirm">${e.confirm.map(i=>r`<li>${i.text}</li>`)}</ul>`}
    ${o.length>0&&r`<ul class="warnings">${o.slice(0,20).map(i=>r`<li>${i}</li>`)}</ul>`}
    ${n.length>0&&r`<section>
      <h3>${R(n.length,"semaphore changes","semaphores change")}</h3>
      <${G}
        caption="Semaphores that change"
        rows=${n.slice(0,je)}
        rowKey=${i=>i.semaphore}
        columns=${[["Semaphore",i=>i.semaphore,"name"],["Changes",i=>r`<${_n} before=${i.before} after=${i.after} />`],["Lets in",i=>fn(i.admitted,i.total_admitted??0)||"–"],["Shuts out",i=>fn(i.shut_out,i.total_shut_out??0)||"–"],["Stops",i=>b(i.stopped?.length),"num"],["Continue",i=>b(i.unaffected),"num"]]}
        note=${n.length>je&&`and ${b(n.length-je)} more`}
      />
    </section>`}
    <${ns} effects=${t} />
    ${s.length>0&&r`<section><h3>Held for an operator</h3>
      <ul>${s.slice(0,je).map(i=>r`<li>${i.semaphore}: the permit of ${L(i.identity)} (token ${i.token}) expired. Its slot stays taken until it is cleared.</li>`)}</ul>
    </section>`}
    ${a.length>0&&r`<ul>${a.slice(0,je).map(i=>r`<li>${i.semaphore}: ${R(i.waiting_tasks,"task waits","tasks wait")} for a worker${i.tasks_run?`; after this change, ${i.tasks_run}`:""}.</li>`)}</ul>`}
  </div>`}function he(e){let{title:t,verb:n,kind:o,preview:s,run:a,done:i,onClose:l,onDone:p,onError:d,role:c,semaphore:h,nothing:m,deps:u,extra:f,children:g}=e,[$,w]=_(0),y=E(s,[t,$,u],{keep:!0}),S=y.loading||y.error,[A,k]=_(""),[D,j]=_(!1),[Q,U]=_(null),q=Y(null),K=y.data&&m?.(y.data);T(()=>{y.error&&d?.(y.error)&&l()},[y.error]),T(()=>{q.current=null},[JSON.stringify(u)]);let ne=()=>{q.current=null,U(null),w($+1)};async function v(se){if(se.preventDefault(),!(D||S||K)){j(!0),U(null),q.current??=Rt();try{let H=await a({reason:A,...de(),...q.current},y.data),be=H.revision??H.change,Vt=be&&be!=="0"?{text:"Undo",run:()=>Qe(be)}:void 0;$e(i(H),{action:Vt}),p?.(H,y.data),l()}catch(H){H.code!=="UNAVAILABLE"&&(q.current=null),U(H),j(!1),d?.(H)&&l()}}}return r`<${le} title=${t} onClose=${l} wide>
    <form onSubmit=${v}>
      ${g}
      <${z} of=${y} what="Asking what this would do">
        ${se=>r`${f?.(se)}<${jo} of=${se} />${se.notes?.length>0&&r`<ul>${se.notes.map(H=>r`<li>${H}</li>`)}</ul>`}
        ${K&&r`<p class="lead">${K}</p>`}`}
      <//>
      <${P} label="Reason" help="For the journal: why you do this." value=${A} onInput=${k} maxlength="1024" />
      ${Q&&r`<${B} error=${Q} retry=${/CHANGED_SINCE|STALE|CONFLICT/.test(Q.reason)?ne:void 0} />`}
      <p class="row end">
        <button type="button" onClick=${l}>Cancel</button>
        <${W} role=${c} semaphore=${h} type="submit" kind=${o??"primary"} why=${S?"There is no preview yet.":K}>
          ${D?"Working …":typeof n=="function"?n(y.data??{}):n}
        <//>
      </p>
    </form>
  <//>`}var gn=ue(null);function Qe(e,t){gn.set({change:String(e),onDone:t})}function qo(){let e=J(gn);return e?r`<${he}
    key=${e.change}
    title=${`Undo change ${e.change}`}
    verb="Undo it"
    preview=${()=>C("/v1/undo",{change:e.change,dry_run:!0,...de()})}
    nothing=${t=>t.undone_by&&t.undone_by!=="0"?`It was undone already, by change ${t.undone_by}.`:t.nothing?"Nothing is left to undo.":""}
    run=${(t,n)=>C("/v1/undo",{change:e.change,plan:n.plan,...t})}
    done=${()=>`Change ${e.change} is undone.`}
    onDone=${e.onDone}
    onClose=${()=>gn.set(null)}
  />`:null}var os=[["/","Overview"],["/move","Move and pause"],["/activity","Activity"],["/jobs","Jobs"],["/cluster","Cluster"],["/access","Access"]],vn=Tt("theme","auto");vn.subscribe(e=>{e==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=e});function rs(){let e=J(vn),t={auto:"light",light:"dark",dark:"auto"}[e];return r`<button type="button" class="plain" onClick=${()=>vn.set(t)} title="Theme: ${e}. Click for ${t}.">
    <svg class="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" /><path class="solid" d=${e==="auto"?"M8 2a6 6 0 0 1 0 12z":e==="dark"?"M8 2a6 6 0 0 1 0 12 6 6 0 0 1 0-12z":"M8 8z"} />
    </svg>
    <span class="sr-only">Theme: ${e}. Change to ${t}</span>
  </button>`}var ss=[["/","Search"],["↑ ↓","Move in a list; Home, End, Page Up and Page Down too"],["Enter","Open"],["Esc","Leave a field, close a dialog, or go back"],["g then o, m, a, j, c","Overview, Move and pause, Activity, Jobs, Cluster"],["?","These keys"]];function as({onClose:e}){return r`<${le} title="Keys" onClose=${e}>
    <dl class="keys">${ss.map(([t,n])=>r`<div><dt><kbd>${t}</kbd></dt><dd>${n}</dd></div>`)}</dl>
  <//>`}function is(){let e=J(Ee),t=J(Nt),[n,o]=_(!1);if(!e)return null;let s=e.authenticated?e.principal||e.credential:t||"dashboard";return r`<button type="button" class="plain who" onClick=${()=>o(!0)}><span class="sr-only">You are </span>${s}</button>
    ${n&&r`<${le} title="You" onClose=${()=>o(!1)}>
      ${e.authenticated?r`<p>The servers see you as <strong>${e.principal}</strong>, by ${e.credential}. <a href="/access">What you may do</a></p>
            <p class="row end"><button type="button" onClick=${()=>_o().catch(()=>{}).then(()=>pe("/login"))}>Log out</button></p>`:r`<p>These servers do not authenticate callers: everybody may do everything.</p>
            <${P} label="Your name" help="The journal shows it as the author of your changes. Nobody checks it." value=${t} onInput=${a=>Nt.set(a)} maxlength="256" />
            <p class="row end"><button type="button" class="primary" onClick=${()=>o(!1)}>Done</button></p>`}
    <//>`}`}function ls(){let e=E(o=>x("/v1/status",{},o),["status"],{every:1e4,keep:!0}),t=J(we).online,n=e.data;return t?n?r`<a class="leader" href="/cluster">
    ${n.leader_id?r`<span class="lamp tone-run" aria-hidden="true"></span><span>${n.leader_id}<span class="long"> leads</span></span>`:r`<span class="lamp tone-deny" aria-hidden="true"></span>no leader`}
  </a>`:r`<a class="leader" href="/cluster"><span class="sr-only">Cluster: </span>…</a>`:r`<a class="leader" href="/cluster"><span class="lamp tone-deny" aria-hidden="true"></span>no answer</a>`}var cs={o:"/",m:"/move",a:"/activity",j:"/jobs",c:"/cluster"};function qt({children:e,bare:t}){let n=J(Ve).split("?")[0],[o,s]=_(!1),a=Y(null),i=Y(!0),l=Y(0);return T(()=>{if(i.current){i.current=!1;return}scrollTo(0,0),a.current?.querySelector("h1")?.focus()},[n]),Co({"?":()=>s(!0),"/":p=>{let d=document.querySelector("[data-search]");d&&(p.preventDefault(),d.focus(),d.select())},Escape:(p,d)=>{d?p.target.blur():n!=="/"&&po()},g:()=>l.current=Date.now(),...Object.fromEntries(Object.entries(cs).map(([p,d])=>[p,()=>Date.now()-l.current<1500&&document.querySelector(`.nav a[href="${d}"]`)?.click()]))}),r`<a class="skip" href="#main">Skip to the content</a>
    ${!t&&r`<header class="top">
      <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="24" height="24" /><span>Gatekeeper</span></a>
      <nav class="nav" aria-label="Views">
        ${os.map(([p,d])=>{let c=p==="/"?n==="/"||n.startsWith("/s/"):n===p||n.startsWith(`${p}/`);return r`<a href=${p} aria-current=${c?"page":void 0}>${d}</a>`})}
      </nav>
      <div class="tools">
        <${ls} />
        <${is} />
        <${rs} />
        <button type="button" class="plain" onClick=${()=>s(!0)} title="Keys"><span aria-hidden="true">?</span><span class="sr-only">Keys</span></button>
      </div>
    </header>`}
    <${xo} />
    <main id="main" tabindex="-1" ref=${a}>${e}</main>
    <${To} />
    <${qo} />
    ${o&&r`<${as} onClose=${()=>s(!1)} />`}`}function Z({children:e,aside:t}){return r`<div class="title"><h1 tabindex="-1">${e}</h1>${t&&r`<div class="row">${t}</div>`}</div>`}var Uo=[["viewer","–","see definitions, permits, queues, history, jobs and status"],["acquirer","viewer","acquire, keep and release permits, take over, verify, submit jobs and work on them"],["verifier","–","verify permits, for a guarded resource"],["operator","viewer","pause, move, cordon, revoke and clear; cancel, retry and delete jobs; undo these"],["editor","viewer","create, replace and delete definitions; undo that"],["admin","all","everything, also change members, settings, bindings and tokens"]];function us(){let[e,t]=_({role:"ROLE_OPERATOR",semaphore:""}),[n,o]=_(null),[s,a]=_(null);return r`<section class="panel stack">
    <h2>May I?</h2>
    <form class="form" onSubmit=${l=>{l.preventDefault(),C("/v1/can-i",{role:e.role,semaphore:e.semaphore.trim()}).then(p=>(o(p),a(null)),a)}}>
      <${xe} label="Role" value=${e.role} onChange=${l=>t({...e,role:l})} options=${Uo.map(([l])=>[`ROLE_${l.toUpperCase()}`,l])} />
      <${P} label="On semaphore" value=${e.semaphore} onInput=${l=>t({...e,semaphore:l})} help="Empty: anywhere." />
      <p class="row full"><button class="primary">Ask</button></p>
    </form>
    <div role="status">
      ${n&&(n.allowed?r`<p class="lead tone-run">Yes.</p>`:r`<p class="lead"><strong class="tone-deny">No.</strong> ${n.reason}</p>`)}
    </div>
    ${s&&r`<${B} error=${s} />`}
  </section>`}function ps(){let e=E(t=>x("/v1/bindings",{},t),["bindings"]);return e.error?e.error.code==="PERMISSION_DENIED"?r`<${O} title="Only administrators see who may do what." />`:r`<${B} error=${e.error} retry=${e.refresh} />`:e.data?r`<${G}
      caption="Bindings"
      rows=${e.data.bindings}
      rowKey=${t=>t.name}
      empty=${r`<${O} title="There are no bindings." />`}
      columns=${[["Name",t=>t.name,"name"],["Subjects",t=>(t.subjects??[]).join(", ")||"–","name"],["May",t=>r`<ul class="changes">${(t.grants??[]).map(n=>r`<li>${$n(n)}</li>`)}</ul>`],["Tokens",t=>(t.tokens??[]).map(n=>`${n.id}${n.expires_at?` until ${M(n.expires_at)}`:""}`).join(", ")||"–"],["Changed",t=>`${M(t.updated_at)}${t.updated_by?` by ${t.updated_by}`:""}`,"num"]]}
    />
    <p class="faint">Change them with <code>gkctl auth bind</code>, <code>unbind</code> and <code>token</code>.</p>`:r`<${me} what="Reading the bindings" />`}function Wo(){oe("Access");let e=J(Ee);return r`<${Z}>Access<//>
    <div class="stack">
      <section class="panel">
        <h2>You</h2>
        ${e?e.authenticated?r`<${Ce} of=${[["Principal",e.principal],["Credential",e.credential],["You may",(e.grants??[]).map($n).join("; ")||"nothing"],["Acquirers",(e.acquirers??[]).join(", ")]]} />`:r`<p>These servers do not authenticate callers: everybody may do everything.</p>`:r`<${me} what="Asking who you are" />`}
      </section>
      <div class="panels">
        <${us} />
        <section class="panel"><h2>Roles</h2>
          <${G} caption="Roles" rows=${Uo} columns=${[["Role",t=>t[0]],["Includes",t=>t[1]],["May",t=>t[2]]]} />
        </section>
      </div>
      <section class="panel"><h2>Who may do what</h2><${ps} /></section>
    </div>`}var ds=["EVENT_KIND_CREATED","EVENT_KIND_REPLACED","EVENT_KIND_DELETED"],ms=e=>ds.includes(e)?"ROLE_EDITOR":"ROLE_OPERATOR";function ht({entries:e,semaphore:t,onChange:n}){let o="";return r`<ol class="entries">
    ${e.map(s=>{let a=s.revision!==o;return o=s.revision,r`<li key=${`${s.revision}.${s.ordinal??0}`} class=${a?"":"same"}>
        <div class="entry-head">
          <time class="num" datetime=${s.at} title=${M(s.at)}>${tt(s.at)}</time>
          <span class="tag tone-${Lo(s.kind)}">${N(s.kind,"EVENT_KIND_")}</span>
          ${!t&&s.semaphore&&r`<a class="mono" href=${`/s/${encodeURIComponent(s.semaphore)}`}>${s.semaphore}</a>`}
          <span class="grow">${Mo(s)}</span>
          <span class="faint"><a href=${`/activity?change=${s.revision}`}>change ${s.revision}</a>${s.author&&` by ${s.author}`}</span>
          ${a&&Po(s)&&r`<${W} role=${ms(s.kind)} semaphore=${s.semaphore??""} onClick=${()=>Qe(s.revision,n)}>Undo …<//>`}
        </div>
        ${s.reason&&r`<p class="entry-reason">${s.reason}</p>`}
        ${s.before&&s.after&&r`<${_n} before=${s.before} after=${s.after} />`}
      </li>`})}
  </ol>`}function Ho(){oe("Activity");let[e,t]=F(),n=e.get("change")??"";return r`<${Z} aside=${n&&r`<a class="button" href="/activity">All activity</a>`}>${n?`Change ${n}`:"Activity"}<//>
    ${n?r`<${$s} change=${n} />`:r`<${hs} params=${e} change=${t} />`}`}var fs=e=>e.split(/[\s,]+/).filter(Boolean).map(t=>/[*?[]/.test(t)?t:`*${t}*`);function hs({params:e,change:t}){let[n,o]=ye(e.get("q")??"",$=>t({q:$}),300),[s,a]=ye(e.get("labels")??"",$=>t({labels:$}),400),i=e.get("permits")==="1",l=e.get("by")??"",[p,d]=ye(l,$=>t({by:$}),300),[c,h]=_(50),m={names:fs(e.get("q")??""),labels:e.get("labels")??"",permits:i},u=E($=>x("/v1/history",{...m,page_size:c},$),["journal",m,c],{every:15e3,keep:!0}),f=Le(u.refresh,i?500:60);Se("/v1/watch",m,{message:({events:$=[]})=>$.length&&f(),missed:f,open:$=>$&&f()});let g=(u.data?.entries??[]).filter($=>!l||($.author??"").toLowerCase().includes(l.toLowerCase()));return r`<form class="filters" role="search" onSubmit=${$=>$.preventDefault()}>
      <div class="field grow"><label for="activity-q">Semaphores <kbd aria-hidden="true">/</kbd></label><input id="activity-q" data-search value=${n} onInput=${$=>o($.target.value)} placeholder="part of a name, or a glob" spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-by">By</label><input id="activity-by" value=${p} onInput=${$=>d($.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-labels">Labels</label><input id="activity-labels" value=${s} onInput=${$=>a($.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <${ae} label="Also how permits ended" checked=${i} onChange=${$=>t({permits:$?"1":""})} />
    </form>
    <section class="panel">
      <${z} of=${u} what="Reading the journal">
        ${$=>r`
          ${g.length?r`<${ht} entries=${g} onChange=${u.refresh} />`:r`<${O} title="The journal has nothing of that.">Edits, pauses, cordons and undos appear here as they happen.<//>`}
          ${$.next_page_token&&c<1e3&&r`<p class="row"><button type="button" onClick=${()=>h(Math.min(1e3,c*4))}>Show more</button></p>`}`}
      <//>
    </section>`}function $s({change:e}){let t=E(n=>x("/v1/history",{change:e,page_size:1e3},n),["change",e]);return r`<section class="panel">
    <${z} of=${t} what="Reading the journal">
      ${({entries:n=[],missing:o,next_page_token:s})=>r`
        ${o&&r`<p class="note">The journal has forgotten a part of this change${o.semaphores?.length?`: ${o.semaphores.join(", ")}`:""}.</p>`}
        ${n.length?r`<${ht} entries=${n} onChange=${t.refresh} />`:r`<${O} title=${`The journal has no change ${e}.`} />`}
        ${s&&r`<p class="faint">Only its first 1,000 entries are shown.</p>`}
        ${n.length>0&&n[0].undoes&&r`<p><a href=${`/activity?change=${n[0].undoes}`}>The change that it undoes</a></p>`}`}
    <//>
  </section>`}var Ut="M4 14V2",Bo={idle:[Ut,"M4 4l8-2"],running:[Ut,"M4 3l9 4v-3l-9-2z"],waiting:[Ut,"M4 5h9","M8 9h1M11 9h1M14 9h0"],paused:["M5.5 3v10","M10.5 3v10"],stopping:[Ut,"M4 4h9v4H4z"],"held for an operator":["M5 7V5a3 3 0 0 1 6 0v2","M4 7h8v6H4z"],missed:["M8 2a6 6 0 1 0 .1 0z","M8 5v3.5l2.5 1.5"],denied:["M8 2a6 6 0 1 0 .1 0z","M4.5 8h7"],disabled:["M3.5 3.5l9 9","M12.5 3.5l-9 9"],cordoned:["M8 2a6 6 0 1 0 .1 0z","M4 4l8 8"]};function bn({word:e}){let t=Bo[e]??Bo.idle;return r`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    ${t.map(n=>r`<path d=${n} />`)}
  </svg>`}function $t({value:e,text:t}){let n=Do(e);return r`<span class="state tone-${n.tone}"><${bn} word=${n.word} /><span>${t??n.word}</span></span>`}function Ko({record:e}){let t=ft(e)[0];return r`<${$t} value=${t?.value} text=${Ro(e)} />`}function Wt({tone:e="idle",children:t}){return r`<span class="tag tone-${e}">${t}</span>`}var _s=()=>E(e=>x("/v1/cordons",{},e),["cordons"],{every:15e3,keep:!0});function qe(){let e=_s(),[t,n]=_(null),o=e.data?.cordons??[];if(o.length===0)return null;let s=a=>C("/v1/uncordon",{id:a.id,...de(),...Rt()}).then(i=>{$e(`Cordon ${a.id} is ended.`,{action:{text:"Undo",run:()=>Qe(i.revision,e.refresh)}}),n(null),e.refresh()},n);return r`<section class="cordons" aria-label="Cordons in force">
    <${B} error=${t} />
    <ul>
      ${o.map(a=>r`<li key=${a.id}>
          <span class="state tone-deny"><${bn} word="cordoned" />cordoned</span>
          <span class="grow">${hn(a)}${a.reason&&`: ${a.reason}`}${a.author&&r`<span class="faint"> by ${a.author}</span>`}</span>
          <${W} role="ROLE_OPERATOR" onClick=${()=>s(a)}>End it<//>
        </li>`)}
    </ul>
  </section>`}function gs({member:e,onClose:t,onDone:n}){let[o,s]=_(null);return r`<${le} title="Hand leadership over" onClose=${t}>
    <form onSubmit=${i=>{i.preventDefault(),C("/v1/leadership:transfer",{id:e.id}).then(l=>{$e(`${l.leader_id} leads.`),n(),t()},s)}}>
      <p>${e.id} becomes the leader. Permits survive; calls wait a moment.</p>
      <${B} error=${o} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Let ${e.id} lead</button></p>
    </form>
  <//>`}function vs({status:e,onChange:t}){let[n,o]=_(null);return r`<section class="panel">
    <h2>Members</h2>
    <${G}
      caption="Members"
      rows=${e.members}
      rowKey=${s=>s.id}
      columns=${[["Server",s=>r`${s.id}${s.id===e.id&&r`<span class="faint"> (answers you)</span>`}`,"name"],["Role",s=>s.leader?r`<strong class="tone-run">leader</strong>`:s.voter?"follower":"non-voter"],["API",s=>s.api_address||"–","name"],["Peers",s=>s.peer_address||"–","name"],["",s=>s.voter&&!s.leader&&r`<${W} role="ROLE_ADMIN" onClick=${()=>o(s)}>Let it lead …<//>`,"end"]]}
    />
    ${n&&r`<${gs} member=${n} onClose=${()=>o(null)} onDone=${t} />`}
  </section>`}function bs({of:e}){return r`<section class="panel">
    <h2>Certificates</h2>
    <${G}
      caption="Certificates of this server"
      rows=${e}
      empty=${r`<${O} title="This server uses no TLS." />`}
      columns=${[["Port",t=>N(t.port,"CERTIFICATE_PORT_")],["Subject",t=>t.subject||"–","name"],["Ends",t=>{if(t.error)return r`<span class="tone-deny">${t.error}</span>`;let n=Date.parse(t.not_after)-Ze();return r`<span class=${n<7*864e5?"tone-deny":n<30*864e5?"tone-wait":""}>${M(t.not_after)}, ${n>0?`in ${X(n)}`:"it has ended"}</span>`}]]}
    />
  </section>`}var ys=e=>I(e)<0?`${ge(-I(e))} behind`:`${ge(I(e))} ahead`;function ws({status:e}){let t=[...(e.member_clocks??[]).map(o=>({name:`server ${o.id}`,ahead:o.ahead})),...(e.host_clocks??[]).map(o=>({name:L(o),ahead:o.ahead,seen:o.seen}))],n=e.role==="SERVER_ROLE_LEADER";return r`<section class="panel">
    <h2>Clocks</h2>
    <${G}
      caption="Clocks that are off"
      rows=${t.slice(0,100)}
      empty=${r`<${O} title=${n?"No clock is off.":"Only the leader compares clocks."} />`}
      columns=${[["Whose",o=>o.name,"name"],["Off by",o=>r`<span class="tone-stop">${ys(o.ahead)}</span>`,"num"],["Seen",o=>o.seen?r`<${ie} at=${o.seen} /> ago`:"within the last minute","num"]]}
    />
  </section>`}function ks({status:e}){let t=Number(e.work_bytes??0),n=Number(e.max_work_bytes??0);return r`<section class="panel">
    <h2>Stored for jobs</h2>
    <p class="row"><${_e} share=${n?t/n:0} label="${ve(t)} of ${ve(n)}" /><span class="num">${ve(t)} of ${ve(n)}</span></p>
    <${G}
      caption="Semaphores with jobs"
      rows=${e.work}
      empty=${r`<${O} title="There are no jobs." />`}
      columns=${[["Semaphore",o=>r`<a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=tasks`}>${o.semaphore}</a>`,"name"],["Jobs",o=>b(o.jobs),"num"],["Waiting",o=>b(o.waiting),"num"],["Running",o=>b(o.held),"num"],["Stored",o=>ve(o.bytes),"num"]]}
    />
  </section>`}function Es(){let e=E(n=>x("/v1/settings",{stale:!0},n),["settings"]),t=(n,o)=>typeof o=="string"&&/s$/.test(o)?ge(I(o)):/bytes/.test(n)?ve(o):b(o);return r`<section class="panel">
    <h2>Settings</h2>
    <${z} of=${e} what="Reading the settings">
      ${n=>r`<${Ce} of=${Object.entries(n.settings??{}).map(([o,s])=>[o,t(o,s)])} />
        <p class="faint">Change them with <code>gkctl cluster settings NAME=VALUE</code>.</p>`}
    <//>
  </section>`}function Vo(){oe("Cluster");let e=E(t=>x("/v1/status",{},t),["status"],{every:2e3,keep:!0});return r`<${Z}>Cluster<//>
    <${qe} />
    <${z} of=${e} what="Asking this server">
      ${t=>{let n=Number(t.commit_index??0)-Number(t.applied_index??0);return r`<div class="stack">
          ${!t.leader_id&&r`<p class="failure" role="alert">There is no leader. Nothing is granted until a majority of the servers is there.</p>`}
          ${t.recovery_wait&&r`<p class="note">Nothing is granted for another ${X(I(t.recovery_wait))}: a recovery is being waited out.</p>`}
          ${t.insecure&&r`<p class="note">This server was started with --insecure: its ports may be reached without TLS and authentication.</p>`}
          ${t.denied_semaphores>0&&r`<div class="note"><p>${R(t.denied_semaphores,"semaphore is","semaphores are")} asked for in vain:</p>
            <ul>${t.denied.map(o=>r`<li key=${o.semaphore}><a href=${`/s/${encodeURIComponent(o.semaphore)}`}>${o.semaphore}</a>: ${o.text||o.message}</li>`)}</ul></div>`}
          <section class="panel">
            <h2>Server ${t.id}</h2>
            <${Ce} of=${[["Cluster",r`<code>${t.cluster_id}</code>`],["Leader",t.leader_id||"none"],["This server is",N(t.role,"SERVER_ROLE_")||"stopping"],["Term",t.term],["Revision",t.revision],["Applied",r`${t.applied_index}${n>0&&r`<span class="tone-wait"> (${b(n)} behind)</span>`}`],["Definitions",b(t.definitions)],["Permits",b(t.permits)],["Waiters",t.role==="SERVER_ROLE_LEADER"?b(t.waiters):"the leader knows"],["Log writes",t.log_writes&&r`<span>${ge(zo(t.log_writes.median))} median, ${ge(zo(t.log_writes.longest))} longest, of ${b(t.log_writes.count)}</span>`],["Last snapshot",t.last_snapshot?r`${t.last_snapshot.taken_at?r`<${ie} at=${t.last_snapshot.taken_at} /> ago`:`index ${t.last_snapshot.index}`}, ${ve(t.last_snapshot.bytes)}`:"none yet"],["Smallest safe duration",t.smallest_duration&&ge(I(t.smallest_duration))],["Version",t.version],["Feature level",t.feature_level],["Up for",t.uptime&&X(I(t.uptime))]]} />
          </section>
          <div class="panels">
            <${vs} status=${t} onChange=${e.refresh} />
            <${bs} of=${t.certificates} />
            <${ws} status=${t} />
            <${ks} status=${t} />
          </div>
          <${Es} />
        </div>`}}
    <//>`}var zo=e=>+(parseFloat(e??"0")*1e3).toFixed(2);var yn=e=>e.failed?"deny":e.over?"run":N(e.state,"JOB_STATE_")==="cancelled"?"stop":"accent",wn=e=>{let t=N(e.state,"JOB_STATE_");return t==="cancelled"&&!e.over?"cancelled, some tasks still run":t},kn=e=>["waiting","held","done","failed","dropped","cancelled"].filter(t=>e[t]).map(t=>`${b(e[t])} ${t}`).join(", ");function En({job:e}){let t=e.tasks??0,n=`${b(e.done)} of ${R(t,"task","tasks")} done`;return r`<div class="job-progress">
    <${Fo}
      total=${t}
      label="${n}; ${kn(e)}"
      parts=${[[e.done??0,"run"],[e.held??0,"accent"],[e.failed??0,"deny"],[e.dropped??0,"stop"],[e.cancelled??0,"idle"]]}
    />
    <span class="num">${n}</span>
  </div>`}function xn({jobs:e}){return r`<${G}
    caption="Jobs"
    rows=${e}
    rowKey=${t=>t.submitted_revision}
    columns=${[["Job",t=>r`<a href=${`/jobs/${encodeURIComponent(t.spec.id)}`}>${t.spec.id}</a>`,"name"],["Semaphore",t=>r`<a href=${`/s/${encodeURIComponent(t.spec.semaphore)}`}>${t.spec.semaphore}</a>`,"name"],["State",t=>r`<span class="tag tone-${yn(t)}">${wn(t)}</span>`],["Progress",t=>r`<${En} job=${t} />`],["Failed",t=>t.failed?r`<strong class="tone-deny">${b(t.failed)}</strong>`:"0","num"],["Submitted",t=>r`<span title=${M(t.submitted_at)}><${ie} at=${t.submitted_at} /> ago</span>${t.spec.author&&r`<div class="sub">by ${t.spec.author}</div>`}`,"num"],["Stored",t=>ve(t.bytes),"num"]]}
  />`}function Jo(e){return e.away?["away","stop"]:e.draining?["draining","wait"]:e.denied&&e.denied!=="REASON_UNSPECIFIED"?[`denied: ${N(e.denied,"REASON_")}`,"deny"]:e.waiting?["waiting","wait"]:e.tasks?.length?["working","run"]:["idle","idle"]}var xs=e=>e.state==="PERMIT_STATE_HELD"?"lost: clear its slot":e.state==="PERMIT_STATE_COOLING"?`lost: cools for ${X(I(e.expires_in))}`:"";function Tn({data:e}){let t=[...e.workers??[],...e.away??[]];return r`<${G}
    caption="Workers"
    rows=${t}
    rowKey=${(n,o)=>`${n.semaphore} ${L(n.identity)} ${n.identity?.holder_id} ${o}`}
    empty=${r`<${O} title="Nobody works.">A worker is a program that takes tasks, as gkctl work does.<//>`}
    columns=${[["Worker",n=>L(n.identity),"name"],["Semaphore",n=>r`<a href=${`/s/${encodeURIComponent(n.semaphore)}`}>${n.semaphore}</a>`,"name"],["State",n=>r`<span class="tag tone-${Jo(n)[1]}">${Jo(n)[0]}</span>`],["Free",n=>b(n.free),"num"],["Tasks",n=>n.tasks?.length?r`<ul class="held">${n.tasks.slice(0,8).map(o=>r`<li key=${o.token}><a href=${`/jobs/${encodeURIComponent(o.job)}`}>${o.job}</a> ${b(o.index)}, for <${ie} at=${o.granted_at} />
                ${o.progress&&r` <${_e} share=${o.progress.fraction} label="${Math.round(100*(o.progress.fraction??0))} %" /> ${o.progress.text}`} ${xs(o)}</li>`)}${n.tasks.length>8&&r`<li>and ${b(n.tasks.length-8)} more</li>`}</ul>`:"–"]]}
  />`}var Ts=[["","any"],["JOB_STATE_OPEN","open"],["JOB_STATE_ENDED","ended"],["JOB_STATE_CANCELLED","cancelled"],["JOB_STATE_RECEIVING","receiving"]];function Ss(){let[e,t]=F(),[n,o]=ye(e.get("semaphore")??"",c=>t({semaphore:c}),300),[s,a]=ye(e.get("labels")??"",c=>t({labels:c}),300),i={semaphore:e.get("semaphore")??"",labels:e.get("labels")??"",states:e.getAll("state")},[l,p]=_(""),d=E(c=>x("/v1/jobs",{...i,page_size:100,page_token:l},c),["jobs",i,l],{every:2e3,keep:!0});return r`<form class="filters" role="search" onSubmit=${c=>c.preventDefault()}>
      <div class="field"><label for="job-semaphore">Semaphore</label><input id="job-semaphore" data-search value=${n} onInput=${c=>o(c.target.value)} spellcheck=${!1} /></div>
      <div class="field"><label for="job-labels">Labels</label><input id="job-labels" value=${s} onInput=${c=>a(c.target.value)} placeholder="team=billing" spellcheck=${!1} /></div>
      <${xe} label="State" value=${e.get("state")??""} onChange=${c=>t({state:c})} options=${Ts} />
    </form>
    <section class="panel">
      <${z} of=${d} what="Reading the jobs">
        ${c=>r`
          ${c.jobs?.length?r`<${xn} jobs=${c.jobs} />`:r`<${O} title="No job matches.">Jobs are submitted by programs, or with gkctl job submit.<//>`}
          <p class="row end">
            ${l&&r`<button type="button" onClick=${()=>p("")}>First page</button>`}
            ${c.next_page_token&&r`<button type="button" onClick=${()=>p(c.next_page_token)}>Next page</button>`}
          </p>`}
      <//>
    </section>`}function Cs(){let e=E(t=>x("/v1/workers",{},t),["workers"],{every:2e3,keep:!0});return r`<section class="panel"><${z} of=${e} what="Reading the workers">${t=>r`<${Tn} data=${t} />`}<//></section>`}function Go(){oe("Jobs");let[e]=F();return r`<${Z}>Jobs<//>
    <${nt} of=${[["jobs","Jobs"],["workers","Workers"]]} label="Jobs and workers" />
    ${e.get("tab")==="workers"?r`<${Cs} />`:r`<${Ss} />`}`}function Ht({title:e,text:t,verb:n,run:o,done:s,onClose:a,onDone:i,reason:l}){let[p,d]=_(""),[c,h]=_(null),[m,u]=_(!1);return r`<${le} title=${e} onClose=${a}>
    <form onSubmit=${async g=>{if(g.preventDefault(),!m){u(!0);try{$e(s(await o(p))),i(),a()}catch($){h($),u(!1)}}}}>
      <p>${t}</p>
      ${l&&r`<${P} label="Reason" value=${p} onInput=${d} maxlength="1024" />`}
      <${B} error=${c} />
      <p class="row end"><button type="button" onClick=${a}>Cancel</button><button class="primary">${m?"Working …":n}</button></p>
    </form>
  <//>`}function Ds({job:e,onChange:t}){let[n,o]=_(""),{id:s,semaphore:a}=e.spec,i=N(e.state,"JOB_STATE_"),l={onClose:()=>o(""),onDone:t},p=(d,c,h)=>r`<${W} role="ROLE_OPERATOR" semaphore=${a} why=${h} onClick=${()=>o(d)}>${c}<//>`;return r`
    ${p("retry","Retry failed …",e.failed?"":"No task has failed.")}
    ${p("drop","Drop failed …",e.failed?"":"No task has failed.")}
    ${p("cancel","Cancel …",e.over?"The job is over.":i==="cancelled"?"It is cancelled already.":"")}
    ${p("delete","Delete …",e.over?"":"The job is not over. Cancel it first.")}
    ${n==="retry"&&r`<${Ht} ...${l} title="Retry failed tasks" verb="Retry" text=${`${R(e.failed,"failed task is","failed tasks are")} handed out again.`}
      run=${()=>C(re`/v1/jobs/${s}:retry`,{as_of:e.revision})} done=${d=>`${R(d.tasks??0,"task","tasks")} handed out again.`} />`}
    ${n==="drop"&&r`<${Ht} ...${l} title="Drop failed tasks" verb="Drop" text=${`${R(e.failed,"failed task is","failed tasks are")} given up. They cannot be retried.`}
      run=${()=>C(re`/v1/jobs/${s}:drop`,{as_of:e.revision})} done=${d=>`${R(d.tasks??0,"task","tasks")} dropped.`} />`}
    ${n==="cancel"&&r`<${Ht} ...${l} title=${`Cancel ${s}`} verb="Cancel the job" reason
      text=${`${R(e.waiting??0,"waiting task is","waiting tasks are")} not executed, and ${R(e.held??0,"running task stops","running tasks stop")}.`}
      run=${d=>C(re`/v1/jobs/${s}:cancel`,{reason:d,submitted_revision:e.submitted_revision,...de()})} done=${()=>`${s} is cancelled.`} />`}
    ${n==="delete"&&r`<${Ht} ...${l} title=${`Delete ${s}`} verb="Delete the job" text="The job is removed with its results."
      run=${()=>Je("DELETE",re`/v1/jobs/${s}`,{query:{submitted_revision:e.submitted_revision}})} done=${()=>`${s} is deleted.`} onDone=${()=>pe("/jobs")} />`}`}var Qo={waiting:"idle",held:"accent",done:"run",failed:"deny",dropped:"stop",cancelled:"stop"},Rs=[["","any"],...Object.keys(Qo).map(e=>[e,e])];function Os({job:e,index:t,onClose:n}){let o=E(s=>x(re`/v1/jobs/${e}/tasks`,{from:t,page_size:1,payloads:!0,results:!0},s),["task",e,t]);return r`<${le} title=${`Task ${t} of ${e}`} onClose=${n} wide>
    <${z} of=${o} what="Reading the task">
      ${s=>{let a=s.tasks?.[0];return a?r`<${Ce} of=${[["State",N(a.state,"TASK_STATE_")],["Attempts",b(a.attempts)],["Worker",a.worker&&L(a.worker)],["Token",a.token],["Returned unfinished",a.returns]]} />
          ${a.failure&&r`<h3>Failure</h3><pre>${a.failure}</pre>`}
          <h3>Payload</h3><pre>${un(a.payload)||"(none)"}</pre>
          <h3>Result</h3><pre>${un(a.result)||"(none)"}</pre>`:r`<${O} title="There is no such task." />`}}
    <//>
  <//>`}function As({id:e,round:t}){let[n,o]=F(),s=n.get("task")??"",[a,i]=_(0),[l,p]=_(null),d={states:s?[`TASK_STATE_${s.toUpperCase()}`]:[],from:a,page_size:100},c=E(h=>x(re`/v1/jobs/${e}/tasks`,d,h),["tasks",e,d,t],{keep:!0});return r`<section class="panel">
    <div class="title"><h2>Tasks</h2>
      <${xe} label="In state" value=${s} onChange=${h=>(i(0),o({task:h}))} options=${Rs} /></div>
    <${z} of=${c} what="Reading the tasks">
      ${h=>r`<${G}
          caption="Tasks"
          rows=${h.tasks}
          rowKey=${m=>m.index??0}
          empty=${r`<${O} title="No task is in that state." />`}
          columns=${[["Task",m=>r`<button type="button" class="plain" onClick=${()=>p(m.index??0)}>${b(m.index)}<span class="sr-only">: show payload and result</span></button>`,"num"],["State",m=>r`<span class="tag tone-${Qo[N(m.state,"TASK_STATE_")]}">${N(m.state,"TASK_STATE_")}</span>`],["Attempts",m=>b(m.attempts),"num"],["Worker",m=>m.worker?L(m.worker):"–","name"],["Progress",m=>m.progress?r`<${_e} share=${m.progress.fraction} label=${`${Math.round(100*(m.progress.fraction??0))} %`} /> ${m.progress.text}`:"–"],["Failure",m=>m.failure||"–"]]}
        />
        <p class="row end">
          ${a>0&&r`<button type="button" onClick=${()=>i(0)}>First page</button>`}
          ${h.next>0&&r`<button type="button" onClick=${()=>i(h.next)}>Next page</button>`}
        </p>`}
    <//>
    ${l!==null&&r`<${Os} job=${e} index=${l} onClose=${()=>p(null)} />`}
  </section>`}function Yo({name:e}){oe(e);let t=E(d=>x(re`/v1/jobs/${e}`,{},d),["job",e],{every:15e3}),[n,o]=_(0),s=Le(()=>o(d=>d+1),1e3),[a,i]=_(null),l=()=>{t.refresh(),s(),i(null)},p=t.data?.job;return T(()=>{p&&!p.over&&a===null&&i(p.revision)},[p?.over,a]),Se(a!==null?re`/v1/jobs/${e}:follow`:null,{after_revision:a},{message(d){d.job&&t.set(()=>({job:d.job})),s()},end:l}),t.error?.code==="NOT_FOUND"?r`<${Z}>${e}<//><${O} title="There is no job of this id.">It may have been deleted, or kept for its time. <a href="/jobs">All jobs</a><//>`:p?r`<${Z} aside=${r`<${Ds} job=${p} onChange=${l} />`}>${e}<//>
    <div class="stack">
      <section class="panel stack">
        <p class="row"><span class="tag tone-${yn(p)}">${wn(p)}</span><span>${kn(p)}</span></p>
        <${En} job=${p} />
        ${p.cancel_text&&r`<p class="note">Cancelled ${p.cancel_text}</p>`}
        <${Ce} of=${[["Semaphore",r`<a href=${`/s/${encodeURIComponent(p.spec.semaphore)}`}>${p.spec.semaphore}</a>`],["Submitted",`${M(p.submitted_at)}${p.spec.author?` by ${p.spec.author}`:""}`],["Ended",p.ended_at&&`${M(p.ended_at)}, after ${X(Date.parse(p.ended_at)-Date.parse(p.submitted_at))}`],["Priority",p.spec.priority],["Attempts of a task",p.spec.max_attempts],["Timeout",Ge(p.spec.timeout)],["Kept after its end",Ge(p.spec.retention)],["Stored",ve(p.bytes)],["Labels",Object.entries(p.spec.labels??{}).map(([d,c])=>`${d}=${c}`).join(", ")]]} />
      </section>
      <${As} id=${e} round=${n} />
    </div>`:r`<${Z}>${e}<//>${t.error&&!t.error.offline?r`<${B} error=${t.error} retry=${t.refresh} />`:r`<${me} what="Reading the job" />`}`}function Xo(){oe("Log in");let[e]=F(),[t,n]=_(""),[o,s]=_(null),[a,i]=_(!1),l=e.get("next")??"/";return r`<div class="login">
    <img src="/assets/icon.svg" alt="" width="48" height="48" />
    <${Z}>Log in to Gatekeeper<//>
    <form onSubmit=${async d=>{d.preventDefault(),i(!0);try{await $o(t.trim()),pe(/^\/(?![/\\])/.test(l)?l:"/",{replace:!0})}catch(c){s(c),i(!1)}}}>
      <${P}
        label="Bearer token"
        help="From gkctl auth token create. It stays in this browser as a cookie that scripts cannot read, for 12 hours."
        type="password"
        autocomplete="current-password"
        value=${t}
        onInput=${n}
        required
        autofocus
      />
      ${o&&r`<${B} error=${o.status===401?{message:"The servers do not know this token. It may have ended, or been revoked."}:o} />`}
      <p class="row end"><button class="primary" disabled=${a||!t.trim()}>${a?"Asking …":"Log in"}</button></p>
    </form>
  </div>`}function Zo({change:e,effects:t,onEnd:n}){let o=ce(()=>t.flatMap(f=>f.stopped??[]),[t]),s=ce(()=>Date.now(),[e]),[a,i]=_({});Re();let l=o.filter(f=>!a[f.permit.token]),p=[...new Set(l.map(f=>f.permit.semaphore))],d=ce(()=>p.length<=40?p:[],[e]),c=f=>f.length&&i(g=>({...Object.fromEntries(f),...g})),h=async()=>{let{items:f}=await ke("/v1/holders",{names:d},"permits",void 0,1e5),g=new Map(f.map($=>[$.token,$]));c(o.filter($=>!g.has($.permit.token)).map($=>[$.permit.token,{how:"gone",after:Date.now()-s}]))};if(Se(o.length?"/v1/watch":null,{names:d,permits:!0,from_revision:String(BigInt(e)+1n)},{message({events:f=[]}){let g=new Set(o.map($=>$.permit.token));c(f.filter($=>$.permit&&g.has($.permit.token)&&$.ended).map($=>[$.permit.token,{how:N($.ended,"PERMIT_END_"),after:Date.now()-s}]))},missed:()=>h().catch(()=>{})}),T(()=>{o.length&&l.length===0&&n?.()},[l.length]),o.length===0)return r`<p class="lead">No holder had to stop.</p>`;let m=l.filter(f=>Date.now()-s>I(f.free_within)),u=o.length-l.length;return r`<section class="follow" aria-label="Holders that stop">
    <p class="lead" role="status">
      ${l.length===0?`${R(o.length,"holder has","holders have")} stopped.`:`${b(u)} of ${R(o.length,"holder has","holders have")} stopped.`}
      ${m.length>0&&r` <strong>${R(m.length,"holder","holders")} did not stop in time.</strong>`}
    </p>
    <${_e} share=${u/o.length} tone=${m.length?"stop":"run"} label=${`${u} of ${o.length} stopped`} />
    <${G}
      caption="Holders that must stop"
      rows=${[...m,...l.filter(f=>!m.includes(f)),...o.filter(f=>a[f.permit.token])].slice(0,600)}
      rowKey=${f=>f.permit.token}
      columns=${[["Semaphore",f=>r`<a href=${`/s/${encodeURIComponent(f.permit.semaphore)}`}>${f.permit.semaphore}</a>`,"name"],["Holder",f=>L(f.permit.identity),"name"],["Token",f=>f.permit.token,"num"],["Now",f=>{let g=a[f.permit.token];if(g)return r`<span class="tone-run">${g.how} after ${X(g.after)}</span>`;let $=s+I(f.free_within)-Date.now();return $>0?r`<span class="tone-wait">stops within <span class="num">${et($)}</span></span>`:r`<span class="tone-deny">did not stop in time</span>`}]]}
    />
  </section>`}function Ue({lasts:e,until:t}){return e?.trim()?{lasts:Te(e)}:t?{until:new Date(t).toISOString()}:{}}var De=e=>e?.trim()?{drain:Te(e)}:{};function We(e){try{return e(),""}catch(t){return t.message}}function Ye({value:e,set:t,without:n="It stays until somebody ends it."}){return r`<${P}
      label="For"
      placeholder="2h"
      value=${e.lasts??""}
      onInput=${o=>t({...e,lasts:o,until:""})}
      error=${We(()=>Te(e.lasts??""))}
      help=${`As 30m or 2h. ${n}`}
    />
    <${P} label="Or until" type="datetime-local" value=${e.until??""} onInput=${o=>t({...e,until:o,lasts:""})} />`}function He({value:e,set:t}){return r`<${P}
    label="Drain"
    placeholder="2m"
    value=${e.drain??""}
    onInput=${n=>t({...e,drain:n})}
    error=${We(()=>Te(e.drain??""))}
    help="How long holders that must stop may continue. Empty: their next refresh is refused."
  />`}var ot=100,Sn=(e,t)=>{let n=[];for(let o=Math.floor(e/ot);o<=Math.floor(Math.max(e,t-1)/ot);o++)n.push(o);return n},er=e=>({...e,deadline:e.holder?.expires_in?Date.now()+I(e.holder.expires_in):0}),Is=e=>Math.max(Number(e.version),Number(e.permit_revision??0));function tr(e){let t=JSON.stringify(e),n=J(Ie),[,o]=_(0),s=()=>o(u=>u+1),a=ce(()=>({pages:new Map,revisions:new Map,asked:new Map,total:void 0,window:[0,1],round:0}),[t]),i=Y(0),l=Y(a);l.current=a;let p=(u,f)=>{if(!f&&(a.pages.has(u)||a.asked.has(u)))return;a.asked.get(u)?.abort();let g=new AbortController;a.asked.set(u,g);let $=performance.now();x("/v1/definitions",{...e,page_size:ot,skip:u*ot},g.signal).then(w=>{if(l.current!==a)return;a.asked.delete(u),a.error=void 0,i.current=performance.now()-$;let y=new Map((a.pages.get(u)??[]).map(S=>[S.definition.name,S]));a.pages.set(u,(w.records??[]).map(S=>{let A=y.get(S.definition.name);return A&&Is(A)>Number(w.revision)?A:er(S)})),a.revisions.set(u,Number(w.revision)),a.round++,a.total=w.total??(w.records??[]).length,s()},w=>{g.signal.aborted||l.current!==a||(a.asked.delete(u),a.error=w,s())})},d=(u,f)=>{a.window=[u,f];let g=Sn(u,f);for(let[$,w]of a.asked)g.includes($)||(w.abort(),a.asked.delete($));for(let $ of g)p($)},c=()=>{let u=Sn(...a.window);for(let f of a.pages.keys())u.includes(f)||a.pages.delete(f);for(let f of u)p(f,!0)},h=Y(c);h.current=c,T(()=>(p(0),()=>a.asked.forEach(u=>u.abort())),[t]),T(()=>{n&&h.current()},[n]),T(()=>{let u=setInterval(()=>document.hidden||h.current(),At(i.current));return()=>clearInterval(u)},[t,a.round]);let m=u=>{let f=!1;for(let g of a.pages.values())g.forEach(($,w)=>{g[w]=u($),f||=g[w]!==$});f&&s()};return{at:u=>a.pages.get(Math.floor(u/ot))?.[u%ot],total:a.total,error:a.error,want:d,since:(u,f)=>Math.min(...Sn(u,f).map(g=>a.revisions.get(g)??1/0)),refresh:c,alter:m,update(u){let f=new Map(u.map(g=>[g.definition.name,er(g)]));m(g=>f.get(g.definition.name)??g)}}}var nr=8,Bt=4;function or({total:e,height:t,row:n,range:o,open:s,label:a,head:i,columns:l}){let p=Y(null),[d,c]=_([0,30]),[h,m]=_(0),u=Y(!1);lt(()=>{let k=0,D=()=>{k=0;let U=p.current?.getBoundingClientRect();if(!U)return;let q=Math.max(0,Math.floor(-U.top/t/Bt)*Bt-nr),K=Math.min(e,Math.ceil((innerHeight-U.top)/t/Bt)*Bt+nr);c(ne=>ne[0]===q&&ne[1]===K?ne:[q,Math.max(q,K)])},j=()=>k||=requestAnimationFrame(D);D(),addEventListener("scroll",j,{passive:!0}),addEventListener("resize",j);let Q=new ResizeObserver(j);return Q.observe(document.body),()=>{cancelAnimationFrame(k),removeEventListener("scroll",j),removeEventListener("resize",j),Q.disconnect()}},[e,t]),T(()=>{o?.(d[0],d[1])},[d[0],d[1],e]),lt(()=>{if(!u.current)return;let k=p.current?.querySelector(`[data-row="${h}"]`);k&&(u.current=!1,k.focus({preventScroll:!0}),k.scrollIntoView({block:"nearest"}))});let f=Math.min(h,Math.max(0,e-1)),g=k=>{if(e===0)return;u.current=!0,m(Math.max(0,Math.min(e-1,k)));let D=p.current.getBoundingClientRect().top+scrollY+k*t;(D<scrollY||D>scrollY+innerHeight)&&scrollTo(0,Math.max(0,D-innerHeight/2))},$=Math.max(1,Math.floor(innerHeight/t)-4),w={ArrowDown:()=>g(f+1),ArrowUp:()=>g(f-1),PageDown:()=>g(f+$),PageUp:()=>g(f-$),Home:()=>g(0),End:()=>g(e-1),Enter:()=>s?.(f)},y=k=>{!w[k.key]||k.ctrlKey||k.metaKey||k.altKey||k.key==="Enter"&&k.target.tagName==="A"||(k.preventDefault(),w[k.key]())},S=k=>{let D=k.target.closest("[data-row]");D&&m(Number(D.dataset.row))};T(()=>{let k=()=>g(f);return addEventListener("enter-list",k),()=>removeEventListener("enter-list",k)});let A=[];for(let k=d[0];k<Math.min(d[1],e);k++)A.push(k);return e>0&&(f<d[0]||f>=d[1])&&A.push(f),r`<div class="grid" role="grid" aria-label=${a} aria-rowcount=${e+1} aria-colcount=${l} onKeyDown=${y} onFocusIn=${S}>
    <div class="grid-head" role="row" aria-rowindex="1">${i}</div>
    <div class="grid-body" role="rowgroup" ref=${p} style=${{height:`${e*t}px`}}>
      ${A.map(k=>r`<div
          key=${k}
          class="grid-row"
          role="row"
          aria-rowindex=${k+2}
          data-row=${k}
          tabindex=${k===f?0:-1}
          style=${{transform:`translateY(${k*t}px)`,height:`${t}px`}}
        >${n(k)}</div>`)}
    </div>
  </div>`}function On(e){return{search:e.get("q")??"",group:e.get("group")??"",labels:e.get("labels")??"",states:e.getAll("state").map(t=>`DEFINITION_STATE_${t.toUpperCase()}`)}}var Cn=e=>e.value.slice(17).toLowerCase();function Ns({counts:e,total:t}){let[n,o]=F(),s=n.getAll("state"),a=i=>o({state:s.includes(i)?s.filter(l=>l!==i):[...s,i]});return r`<div class="states" role="group" aria-label="Filter by state">
    <button type="button" class="stat" aria-pressed=${s.length===0} onClick=${()=>o({state:""})}>
      <span class="stat-n num">${t===void 0?"–":b(t)}</span><span class="stat-w">all</span>
    </button>
    ${Pt.map(i=>{let l=e?.get(i.value);return r`<button
        type="button"
        key=${i.value}
        class="stat ${e&&!l?"zero":""} tone-${i.tone}"
        aria-pressed=${s.includes(Cn(i))}
        title=${i.help}
        onClick=${()=>a(Cn(i))}
      >
        <span class="stat-n num">${e?b(l):"–"}</span><span class="stat-w"><${$t} value=${i.value} text=${Cn(i)} /></span>
      </button>`})}
  </div>`}var Ms=e=>/[,=!()"]/.test(e)?`"${e.replaceAll('"','\\"')}"`:e;function Ls({labels:e}){let[t,n]=F(),o=t.get("labels")??"",[s,a]=ye(o,c=>n({labels:c}),400),[i,l]=_(""),p=e?.find(c=>c.key===i)?.values??[],d=c=>{c&&(n({labels:[o,c==="*"?i:`${i}=${Ms(c)}`].filter(Boolean).join(",")}),l(""))};return r`<div class="field">
      <label for="labels">Labels</label>
      <input id="labels" value=${s} placeholder="team=data,tier!=test" onInput=${c=>a(c.target.value)} autocomplete="off" spellcheck=${!1} />
    </div>
    ${e?.length>0&&r`<${xe} label="Add a label" value=${i} onChange=${l} options=${[["","Label …"],...e.map(c=>[c.key,c.key])]} />
      ${i&&r`<${xe} label="Value" value="" onChange=${d} options=${[["","Value …"],["*","any value"],...p.map(c=>[c.value,`${c.value} (${b(c.count)})`])]} />`}`}`}function Ps({summary:e,shown:t}){let[n,o]=F(),[s,a]=ye(n.get("q")??"",u=>o({q:u})),[i,l]=ye(n.get("group")??"",u=>o({group:u}),400),p=["q","group","labels","state"].filter(u=>n.get(u)),d=E(u=>ke("/v1/known",{},"callers",u),["known"]),c=[...new Set((d.data?.items??[]).map(u=>u.group))].sort(),h=Lt("(min-width: 60rem)");return r`<form class="filters" role="search" onSubmit=${u=>u.preventDefault()}>
    <div class="field grow">
      <label for="search">Search <kbd aria-hidden="true">/</kbd></label>
      <input id="search" type="search" data-search value=${s} placeholder="Words of name, description or label" onInput=${u=>a(u.target.value)} onKeyDown=${u=>{u.key!=="ArrowDown"&&u.key!=="Enter"||(u.preventDefault(),dispatchEvent(new Event("enter-list")))}} autocomplete="off" spellcheck=${!1} />
    </div>
    <details class="more-filters" open=${h||p.some(u=>u==="group"||u==="labels")}>
      <summary>Filters</summary>
      <div class="filters-in">
        <div class="field">
          <label for="group">Lets in group</label>
          <input id="group" value=${i} list="groups" placeholder="any" onInput=${u=>l(u.target.value)} autocomplete="off" spellcheck=${!1} />
          <datalist id="groups">${c.map(u=>r`<option value=${u} />`)}</datalist>
        </div>
        <${Ls} labels=${e?.labels} />
      </div>
    </details>
    <p class="row filters-end">
      <span class="num" role="status">${t}</span>
      ${p.length>0&&r`<button type="button" onClick=${()=>o({q:"",group:"",labels:"",state:""})}>Clear filters</button>`}
      <a class="button" href=${`/move?${new URLSearchParams([...n,["from_filter","1"]])}`}>Move or pause</a>
    </p>
  </form>`}var Dn=["State","Semaphore","In use","Holder","Time left","Queue","Lets in group"],Rn=class extends Xe{shouldComponentUpdate(t){return t.record!==this.props.record}render({record:t}){return r`<${Fs} record=${t} />`}};function Fs({record:e}){if(!e)return r`<span class="row-loading" role="gridcell" aria-colspan=${Dn.length}>Reading …</span>`;let t=e.definition,n=e.holder,o=(e.holders??0)-1,s=Ft(e)[0],a=`/s/${encodeURIComponent(t.name)}`,i=Number(e.used??0),l=t.permits??0,p=e.waiters??0;return r`
    <span class="c-state" role="gridcell"><${Ko} record=${e} /></span>
    <span class="c-name" role="rowheader">
      <a href=${a} tabindex="-1">${t.name}</a>
      <span class="sub">${s??t.description??""}</span>
    </span>
    <span class="c-used num" role="gridcell">
      <${_e} share=${l?i/l:i?1:0} tone=${i>l?"deny":"accent"} label="${i} of ${l} permits in use" />
      <span>${b(i)}<span class="faint"> / ${b(l)}</span></span>
    </span>
    <span class="c-holder" role="gridcell">
      ${n?r`<span class="clip">${L(n.identity)}</span><span class="sub">for <${ie} at=${n.granted_at} />${o>0&&` and ${b(o)} more`}</span>`:r`<span class="faint">–</span>`}
    </span>
    <span class="c-left" role="gridcell">${n?r`<${jt} at=${e.deadline} of=${I(n.duration)} />`:r`<span class="faint">–</span>`}</span>
    <span class="c-queue num" role="gridcell">${p?r`<span class="tag tone-wait">${b(p)}</span>`:r`<span class="faint">0</span>`}</span>
    <span class="c-group" role="gridcell"><code class="clip">${t.group_pattern}</code></span>`}var js=6e3;function rr(){oe("Overview");let[e]=F(),t=On(e),n=tr(t),o=Lt("(max-width: 47.99rem)"),s=Lt("(max-width: 63.99rem)"),a=o?104:s?76:52,{search:i,group:l,labels:p}=t,[d,c]=_(1e4),h=E(async D=>{let j=performance.now(),Q=await x("/v1/definitions:summarize",{search:i,group:l,labels:p},D);return c(At(performance.now()-j)),Q},["summary",i,l,p],{every:d,keep:!0}),m=ce(()=>h.data&&new Map((h.data.states??[]).map(D=>[D.state,D.count])),[h.data]),[u,f]=_({names:[]}),g=Y([0,0]),$=Le(()=>{let[D,j]=g.current,Q=[],U=0;for(let q=D;q<j&&U<js;q++){let K=n.at(q)?.definition.name;K&&(Q.push(K),U+=K.length+8)}f(q=>q.names.join(`
`)===Q.join(`
`)?q:{names:Q,from_revision:n.since(D,j)+1})},150),w=(D,j)=>{g.current=[D,j],n.want(D,j),$()};T($),Se(u.names.length?"/v1/watch":null,{...u,permits:!0,records:!0,live_every:"2s"},{open:D=>D&&n.refresh(),missed:n.refresh,message({records:D=[],undefined:j=[]}){n.update(D),j.length&&n.refresh()},live(D){let j=new Map((D.live.semaphores??[]).map(U=>[U.semaphore,U])),Q=Date.now();n.alter(U=>{if(!u.names.includes(U.definition.name))return U;let q=j.get(U.definition.name),K=q?.waiters??0,ne=q?.deadlines?.find(se=>se.token===U.holder?.token)?.expires_in,v=ne?Q+I(ne):U.deadline;return K===(U.waiters??0)&&Math.abs(v-U.deadline)<200?U:{...U,waiters:K,deadline:v}})}});let y=D=>{let j=n.at(D);j&&pe(`/s/${encodeURIComponent(j.definition.name)}`)},S=n.total,A=S===void 0?"…":R(S,"semaphore","semaphores"),k=ce(()=>r`<${Z} aside=${r`<${qs} />`}>Overview<//>
      <${qe} />
      <${Ns} counts=${m} total=${h.data&&(h.data.total??0)} />
      <${Ps} summary=${h.data} shown=${A} />`,[m,h.data,A]);return r`${k}
    ${n.error&&!n.error.offline&&r`<${B} error=${n.error} retry=${n.refresh} />`}
    ${S===void 0?!n.error&&r`<${me} what="Reading the semaphores" />`:S===0?r`<${Us} filtered=${[...e].length>0} />`:r`<${or}
            label="Semaphores"
            total=${S}
            height=${a}
            columns=${Dn.length}
            range=${w}
            open=${y}
            head=${Dn.map(D=>r`<span role="columnheader">${D}</span>`)}
            row=${D=>r`<${Rn} record=${n.at(D)} />`}
          />`}`}function qs(){let[e,t]=_(!1),[n,o]=_("");return r`<${W} role="ROLE_EDITOR" onClick=${()=>t(!0)}>New semaphore …<//>
    ${e&&r`<${le} title="New semaphore" onClose=${()=>t(!1)}>
      <form onSubmit=${a=>{a.preventDefault(),n.trim()&&pe(`/s/${encodeURIComponent(n.trim())}?tab=rule`)}}>
        <${P} label="Name" value=${n} onInput=${o} maxlength="256" required help="As callers ask for it. It cannot be changed later." />
        <p class="row end"><button type="button" onClick=${()=>t(!1)}>Cancel</button><button class="primary">Write its rule …</button></p>
      </form>
    <//>`}`}function Us({filtered:e}){return e?r`<${O} title="No semaphore matches.">Remove a filter to see more.<//>`:r`<${O} title="There are no semaphores yet.">Create the first one with <code>gkctl apply -f FILE</code>, or give gatekeeperd a file by <code>--definitions</code>.<//>`}var Ws=[["move","Move"],["pause","Pause"],["resume","Resume"],["cordon","Cordon"]],sr=e=>e.split(/[\n,]/).map(t=>t.trim()).filter(Boolean);function ir(){let[e,t]=F(),[n,o]=_(e.getAll("names").join(`
`)),[s,a]=_(e.get("labels")??""),[i,l]=_(e.get("all")==="1"),[p,d]=_(null),c=On(e),h=e.get("from_filter")==="1"&&(c.search||c.group||c.states.length>0);T(()=>{h&&ke("/v1/definitions",c,"records",void 0,1e3).then(({items:u,more:f})=>{o(u.map(g=>g.definition.name).join(`
`)),a(""),t({q:"",group:"",state:"",labels:"",from_filter:""}),f&&d(new Error("More than 1,000 semaphores match. Only the first 1,000 are listed here; choose by a label or a glob instead."))},d)},[]);let m=i?{all:!0}:{...sr(n).length&&{names:sr(n)},...s.trim()&&{labels:s.trim()}};return{names:n,setNames:o,labels:s,setLabels:a,everything:i,setEverything:l,selector:m,error:p,given:i||n.trim()!==""||s.trim()!==""}}function lr({of:e,optional:t}){let n=E(e.given?a=>x("/v1/definitions",{names:e.selector.names,labels:e.selector.labels,page_size:4},a):null,["chosen",e.selector],{keep:!0}),o=n.data?.records??[],s=n.data?.total??0;return r`<fieldset class="panel stack">
    <legend>Which semaphores</legend>
    <div class="form">
      <${P} label="Names" area=${4} value=${e.names} onInput=${e.setNames} disabled=${e.everything} placeholder="nightly-*" help="One name or glob per line." class="full" data-search />
      <${P} label="Labels" value=${e.labels} onInput=${e.setLabels} disabled=${e.everything} placeholder="team=data,tier!=test" help="Names and labels must both match." />
      <${ae} label="Every semaphore" checked=${e.everything} onChange=${e.setEverything} />
    </div>
    ${e.error&&r`<${B} error=${e.error} />`}
    ${n.error&&!n.error.offline&&r`<${B} error=${n.error} />`}
    <p role="status" class="faint">
      ${e.given?n.data?`${R(s,"semaphore","semaphores")} chosen${o.length?`: ${Me(o.map(a=>a.definition.name),4)}${s>4?" …":""}`:""}`:"Reading …":t??"Choose some, or every one."}
    </p>
  </fieldset>`}function An({of:e,onAgain:t}){return r`<section class="panel stack" aria-label="What was done">
    <h2>${e.text}</h2>
    <${Zo} key=${e.change} change=${e.change} effects=${e.effects} />
    <p class="row">
      <a class="button" href=${`/activity?change=${e.change}`}>Change ${e.change}</a>
      <${W} role=${e.role} onClick=${()=>Qe(e.change)}>Undo …<//>
      <button type="button" onClick=${t}>Another one</button>
    </p>
  </section>`}function In(){let[e,t]=_(null);return[e,(o,s)=>(a,i)=>{let l=a.change??a.revision??a.cordon?.revision;l&&l!=="0"&&t({text:o,role:s,change:l,effects:a.effects?.length?a.effects:i.effects??[]})},()=>t(null)]}function cr({id:e}){let t=E(o=>ke("/v1/known",{},"callers",o,5e3),["known"]),n=[...new Set((t.data?.items??[]).map(o=>o.group))].sort();return r`<datalist id=${e}>${n.map(o=>r`<option value=${o} />`)}</datalist>`}function Hs({of:e}){let t=(e.not_moved??[]).filter(o=>o.problem),n=(e.not_moved??[]).length-t.length;return r`
    <p class="lead">${e.moves?.length?`${R(e.moves.length,"semaphore moves","semaphores move")}.`:e.mistake?"":"There is nothing to move."}${n>0&&r`<span class="faint"> ${b(n)} need no move.</span>`}</p>
    ${e.mistake&&r`<p class="note">${e.mistake}</p>`}
    ${e.doubts?.length>0&&r`<div class="failure" role="alert"><p class="failure-text">This move is likely a mistake.</p><ul>${e.doubts.map(o=>r`<li>${o}</li>`)}</ul></div>`}
    ${t.length>0&&r`<div class="warnings"><p>${R(t.length,"semaphore has","semaphores have")} to be moved by hand:</p>
      <ul>${t.slice(0,20).map(o=>r`<li><a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=rule`}>${o.semaphore}</a>: ${o.why}</li>`)}</ul></div>`}`}function Bs(){let e=ir(),[t]=F(),[n,o]=_({from:t.get("from")??"",to:t.get("to")??"",drain:""}),[s,a]=_(!1),[i,l,p]=In(),d=()=>({selector:e.given?e.selector:{all:!0},from_group:n.from.trim(),to_group:n.to.trim(),...De(n.drain),...de()}),c=!n.from.trim()||!n.to.trim()?"Say from which group to which.":We(()=>De(n.drain));return i?r`<${An} of=${i} onAgain=${p} />`:r`<form class="stack" onSubmit=${h=>(h.preventDefault(),c||a(!0))}>
    <fieldset class="panel">
      <legend>From where to where</legend>
      <div class="form">
        <${P} label="From group" value=${n.from} onInput=${h=>o({...n,from:h})} list="move-groups" required />
        <${P} label="To group" value=${n.to} onInput=${h=>o({...n,to:h})} list="move-groups" required />
        <${He} value=${n} set=${o} />
        <${cr} id="move-groups" />
      </div>
    </fieldset>
    <${lr} of=${e} optional="Every semaphore that admits the old group, and not the new one. Choose fewer by names or labels." />
    <p class="row end"><${W} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>Preview the move …<//></p>
    ${s&&r`<${he}
      title=${`Move from ${n.from} to ${n.to}`}
      verb=${h=>`Move ${R(h.moves?.length??0,"semaphore","semaphores")}`}
      role="ROLE_OPERATOR"
      preview=${async h=>C("/v1/move",{...d(),dry_run:!0},h)}
      extra=${h=>r`<${Hs} of=${h} />`}
      nothing=${h=>h.moves?.length?"":h.mistake||"There is nothing to move."}
      run=${async(h,m)=>C("/v1/move",{...d(),expected:m.digest,...h})}
      done=${h=>`${R(h.moves?.length??0,"semaphore","semaphores")} moved from ${n.from} to ${n.to}.`}
      onDone=${l(`Moved from ${n.from} to ${n.to}`,"ROLE_OPERATOR")}
      onClose=${()=>a(!1)}
    />`}
  </form>`}function ar({resume:e}){let t=ir(),[n,o]=_({lasts:"",until:"",stop:!1,drain:"",keep:!0}),[s,a]=_(!1),[i,l,p]=In(),d=()=>e?{selector:t.selector}:{selector:t.selector,...Ue(n),...n.keep&&{keep_paused:!0},...n.stop&&{stop:!0,...De(n.drain)}},c=t.given?We(()=>(Ue(n),De(n.drain))):"Choose some semaphores first.";if(i)return r`<${An} of=${i} onAgain=${p} />`;let h=e?"resume":"pause";return r`<form class="stack" onSubmit=${m=>(m.preventDefault(),c||a(!0))}>
    <${lr} of=${t} />
    ${!e&&r`<fieldset class="panel">
      <legend>How long, and what becomes of running work</legend>
      <div class="form">
        <${Ye} value=${n} set=${o} without="Empty: until it is resumed." />
        <${ae} label="Stop holders too" checked=${n.stop} onChange=${m=>o({...n,stop:m})} help="Otherwise running work continues to its end." />
        ${n.stop&&r`<${He} value=${n} set=${o} />`}
        <${ae} label="Leave paused ones as they are" checked=${n.keep} onChange=${m=>o({...n,keep:m})} help="Otherwise this pause replaces theirs, also when it ends." />
      </div>
    </fieldset>`}
    <p class="row end"><${W} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>${e?"Preview …":"Preview the pause …"}<//></p>
    ${s&&r`<${he}
      title=${e?"Resume":"Pause"}
      verb=${e?"Resume":"Pause"}
      role="ROLE_OPERATOR"
      preview=${async m=>C("/v1/preview",{[h]:d()},m)}
      run=${async(m,u)=>C(`/v1/${h}`,{...d(),expected:u.digest,...m})}
      done=${m=>`${R(m.names?.length??0,"semaphore","semaphores")} ${h}d.`}
      onDone=${(m,u)=>l(`${R(m.names?.length??0,"semaphore","semaphores")} ${h}d`,"ROLE_OPERATOR")(m,u)}
      onClose=${()=>a(!1)}
    />`}
  </form>`}function Ks(){let[e]=F(),[t,n]=_({group:e.get("group")??"",acquirer:e.get("acquirer")??"",lasts:"",until:"",drain:""}),[o,s]=_(!1),[a,i,l]=In(),p=()=>({...t.group.trim()&&{group_pattern:t.group.trim()},...t.acquirer.trim()&&{acquirer_pattern:t.acquirer.trim()},...Ue(t),...De(t.drain)}),d=!t.group.trim()&&!t.acquirer.trim()?"Say whom to shut out.":We(()=>p());return a?r`<${An} of=${a} onAgain=${l} />`:r`<form class="stack" onSubmit=${c=>(c.preventDefault(),d||s(!0))}>
    <p>A cordon shuts a group or a host out of every semaphore, for example while it is patched.</p>
    <fieldset class="panel">
      <legend>Whom, and for how long</legend>
      <div class="form">
        <${P} label="Group pattern" value=${t.group} onInput=${c=>n({...t,group:c})} list="cordon-groups" help="A caller is caught when either pattern matches." />
        <${P} label="Acquirer pattern" value=${t.acquirer} onInput=${c=>n({...t,acquirer:c})} placeholder="host-3" />
        <${Ye} value=${t} set=${n} without="Empty: until it is ended." />
        <${He} value=${t} set=${n} />
        <${cr} id="cordon-groups" />
      </div>
    </fieldset>
    <p class="row end"><${W} role="ROLE_OPERATOR" type="submit" kind="primary" why=${d}>Preview the cordon …<//></p>
    ${o&&r`<${he}
      title="Cordon"
      verb="Cordon"
      role="ROLE_OPERATOR"
      preview=${async c=>C("/v1/preview",{cordon:p()},c)}
      run=${async c=>C("/v1/cordon",{...p(),...c})}
      done=${c=>`Cordon ${c.cordon?.id} is in force.`}
      onDone=${(c,h)=>i(`Cordon ${c.cordon?.id} is in force`,"ROLE_OPERATOR")(c,h)}
      onClose=${()=>s(!1)}
    />`}
  </form>`}function ur(){oe("Move and pause");let[e]=F(),t=e.get("do")??"move";return r`<${Z}>Move and pause<//>
    <${qe} />
    <${nt} of=${Ws} query="do" label="What to do" />
    ${t==="pause"?r`<${ar} key="pause" />`:t==="resume"?r`<${ar} key="resume" resume />`:t==="cordon"?r`<${Ks} />`:t==="move"?r`<${Bs} />`:r`<${O} title="There is no such form." />`}`}var pr=e=>e.all?"every semaphore":e.labels?`semaphores with ${e.labels}`:Me(e.names??[]),dr=e=>e.names?.length===1?e.names[0]:"";function mr({selector:e,onClose:t,onDone:n}){let[o,s]=_({lasts:"",until:"",stop:!1,drain:""}),a=()=>({selector:e,...Ue(o),...o.stop?{stop:!0,...De(o.drain)}:{}});return r`<${he}
    title=${`Pause ${pr(e)}`}
    verb="Pause"
    role="ROLE_OPERATOR"
    semaphore=${dr(e)}
    deps=${o}
    preview=${async i=>C("/v1/preview",{pause:a()},i)}
    run=${async(i,l)=>C("/v1/pause",{...a(),expected:l.digest,...i})}
    done=${i=>`${R(i.names?.length??0,"semaphore","semaphores")} paused.`}
    onClose=${t}
    onDone=${n}
  >
    <p>Nobody gets a permit until the pause ends. The queue keeps its places.</p>
    <div class="form">
      <${Ye} value=${o} set=${s} without="Empty: until it is resumed." />
      <${ae} label="Stop holders too" checked=${o.stop} onChange=${i=>s({...o,stop:i})} help="Otherwise running work continues to its end." />
      ${o.stop&&r`<${He} value=${o} set=${s} />`}
    </div>
  <//>`}function fr({selector:e,onClose:t,onDone:n}){return r`<${he}
    title=${`Resume ${pr(e)}`}
    verb="Resume"
    role="ROLE_OPERATOR"
    semaphore=${dr(e)}
    preview=${async o=>C("/v1/preview",{resume:{selector:e}},o)}
    run=${async(o,s)=>C("/v1/resume",{selector:e,expected:s.digest,...o})}
    done=${o=>o.names?.length?`${R(o.names.length,"semaphore","semaphores")} resumed.`:"Nothing was paused."}
    onClose=${t}
    onDone=${n}
  />`}function hr({name:e}){let[t,n]=F(),o={group:t.get("group")??"",acquirer:t.get("acquirer")??"",weight:t.get("weight")??"",worker:t.get("worker")??""},[s,a]=_(o),l=E(m=>x("/v1/known",{page_size:1e3},m),["known"]).data?.callers??[],p={identity:{group:o.group,acquirer:o.acquirer},...o.weight&&{weight:Number(o.weight)},...o.worker&&{worker:!0}},d=E(o.acquirer?m=>C(re`/v1/semaphores/${e}:explain`,p,m):null,["explain",e,o],{keep:!0,every:5e3}),c=m=>{m.preventDefault(),n(s),d.refresh()},h=m=>u=>a({...s,[m]:u});return r`<section class="panel">
    <h2>Would this caller get a permit?</h2>
    <form class="form" onSubmit=${c}>
      <${P} label="Group" value=${s.group} onInput=${h("group")} list="known-groups" placeholder="default" help="Where the caller runs: a zone, a site." />
      <${P} label="Acquirer" value=${s.acquirer} onInput=${h("acquirer")} list="known-acquirers" required help="Who asks, normally a host." />
      <${P} label="Weight" type="number" min="1" value=${s.weight} onInput=${h("weight")} placeholder="1" />
      <${ae} label="It is a worker" checked=${s.worker==="1"} onChange=${m=>h("worker")(m?"1":"")} help="It asks for a task." />
      <datalist id="known-groups">${[...new Set(l.map(m=>m.group))].map(m=>r`<option value=${m} />`)}</datalist>
      <datalist id="known-acquirers">${[...new Set(l.map(m=>m.acquirer))].map(m=>r`<option value=${m} />`)}</datalist>
      <p class="row full"><button class="primary">Explain</button></p>
    </form>
    ${d.error&&!d.error.offline&&r`<${B} error=${d.error} />`}
    ${o.acquirer&&!d.data&&!d.error&&r`<${me} what="Asking" />`}
    ${d.data&&r`<${zs} of=${d.data} />`}
  </section>`}function zs({of:e}){let t=!e.reason||e.reason==="REASON_UNSPECIFIED";return r`<div class="stack" role="status">
    <p class="lead tone-${t?"run":"deny"}"><strong>${t?"It would get a permit.":`Denied: ${N(e.reason,"REASON_")}.`}</strong> ${e.summary}</p>
    ${e.recovering&&r`<p class="note">Nothing is granted for another ${Math.ceil(I(e.recovering)/1e3)} s: a recovery of the cluster is being waited out.</p>`}
    <ol class="steps">
      ${(e.steps??[]).map(n=>r`<li key=${n.number}>
        <span class="step-mark tone-${n.passed?"run":"deny"}"><span aria-hidden="true">${n.passed?"✓":"✗"}</span><span class="sr-only">${n.passed?"passed":"failed"}</span></span>
        <span class="step-name">${n.number} ${n.name}</span><span>${n.text}</span>
      </li>`)}
    </ol>
    ${e.holders?.length>0&&r`<p>Taken by ${e.holders.slice(0,5).map((n,o)=>r`${o?", ":""}${L(n.identity)} for <${ie} at=${n.granted_at} />`)}${(e.holder_count??0)>5&&` and ${b(e.holder_count-5)} more`}.</p>`}
    ${e.waiter_count>0&&r`<p>${R(e.waiter_count,"caller waits","callers wait")} in the queue.</p>`}
    ${e.why_tasks_wait&&r`<p>${e.why_tasks_wait}</p>`}
  </div>`}var Vs={claimed:"accent",done:"run",spent:"stop",failed:"deny","cut short":"stop",open:"wait",forgotten:"idle"};async function Js(e,t){let n="",o,s=[];do o=await x("/v1/firings",{semaphore:e,page_size:1e3,page_token:n},t),s.push(...o.firings??[]),n=o.next_page_token??"";while(n&&s.length<2e4);return{...o,firings:s.reverse()}}function $r({name:e,events:t}){let n=E(p=>Js(e,p),["firings",e,t],{keep:!0}),[o,s]=_(null),[a,i]=_(100),l=o&&{semaphore:e,firings:[o.firing],...de()};return r`<section class="panel">
    <h2>Firings</h2>
    <${z} of=${n} what="Reading the firings">
      ${p=>r`
        <p class="faint">${b(p.count)} remembered, at most ${b(p.limit)}.${p.forgotten_up_to&&` Those due until ${M(p.forgotten_up_to)} that are not listed count as forgotten.`}</p>
        <${G}
          caption="Firings"
          rows=${p.firings.slice(0,a)}
          rowKey=${d=>Fe(d.firing)}
          empty=${r`<${O} title="No firing is remembered.">A caller that names its firing, as gkctl run --firing does, is remembered here.<//>`}
          columns=${[["Firing",d=>Fe(d.firing),"name"],["State",d=>r`<span class="tag tone-${Vs[N(d.state,"FIRING_STATE_")]??"idle"}">${N(d.state,"FIRING_STATE_")}</span>`],["Who",d=>d.winner?L(d.winner):"–","name"],["Claimed at",d=>M(d.claimed_at)||"–","num"],["Attempts",d=>b(d.attempts),"num"],["Failure",d=>d.failure||"–"],["",d=>r`<${W} role="ROLE_OPERATOR" semaphore=${e} onClick=${()=>s(d)}>Forget …<//>`,"end"]]}
        />
        ${p.firings.length>a&&r`<button type="button" onClick=${()=>i(a*5)}>Show more</button>`}`}
    <//>
    ${o&&r`<${he}
      title=${`Forget ${Fe(o.firing)}`}
      verb="Forget it"
      kind="danger"
      role="ROLE_OPERATOR"
      semaphore=${e}
      preview=${p=>C("/v1/firings:forget",{...l,dry_run:!0},p)}
      run=${(p,d)=>C("/v1/firings:forget",{...l,plan:d.plan,...p})}
      done=${()=>`${Fe(o.firing)} is forgotten.`}
      onDone=${n.refresh}
      onClose=${()=>s(null)}
    ><p>A forgotten firing can run again, even if its job has run.</p><//>`}
  </section>`}function _r({name:e,events:t,onChange:n}){let[o,s]=F(),a=o.get("permits")==="1",[i,l]=_(50),p=E(d=>x("/v1/history",{names:[e],permits:a,page_size:i},d),["history",e,a,i,t],{keep:!0});return r`<section class="panel">
    <div class="title"><h2>History</h2>
      <${ae} label="Also how permits ended" checked=${a} onChange=${d=>s({permits:d?"1":""})} />
    </div>
    <${z} of=${p} what="Reading the journal">
      ${d=>r`
        ${d.entries?.length?r`<${ht} entries=${d.entries} semaphore=${e} onChange=${n} />`:r`<${O} title="The journal has nothing of it." />`}
        ${d.next_page_token&&i<1e3&&r`<p class="row"><button type="button" onClick=${()=>l(Math.min(1e3,i*4))}>Show more</button></p>`}`}
    <//>
  </section>`}var Nn=[["1h",36e5],["6h",6*36e5],["24h",24*36e5],["7d",168*36e5]],Mn=4,gr=12,Gs={released:"run",expired:"stop",abandoned:"idle",cancelled:"idle",cleared:"stop","freed unsafely":"deny",superseded:"idle"};function vr({name:e,permits:t,events:n}){let[o,s]=F(),a=Nn.find(([p])=>p===o.get("span"))??Nn[0];Re();let i=Date.now()-a[1],l=E(p=>x("/v1/history",{names:[e],permits:!0,since:new Date(Date.now()-a[1]).toISOString(),page_size:1e3},p),["timeline",e,a[0],n],{keep:!0});return r`<section class="panel">
    <div class="title"><h2>Who held it when</h2>
      <div class="row" role="group" aria-label="Span of time">
        ${Nn.map(([p])=>r`<button type="button" key=${p} aria-pressed=${p===a[0]} onClick=${()=>s({span:p==="1h"?"":p})}>${p}</button>`)}
      </div>
    </div>
    <${z} of=${l} what="Reading the journal">
      ${p=>r`<${Qs} entries=${p.entries??[]} permits=${t} from=${i} to=${Date.now()} more=${p.next_page_token} />`}
    <//>
  </section>`}function Qs({entries:e,permits:t,from:n,to:o,more:s}){let a=[...t.map(c=>({who:L(c.identity),from:Date.parse(c.granted_at),to:o,how:"holds it now",tone:c.stop?"stop":"accent",token:c.token})),...e.filter(c=>c.permit&&c.kind!=="EVENT_KIND_GRANTED"&&c.permit.granted_at).map(c=>{let h=N(c.permit.ended,"PERMIT_END_")||N(c.kind,"EVENT_KIND_");return{who:L(c.permit.identity),from:Date.parse(c.permit.granted_at),to:Date.parse(c.permit.ended_at??c.at),how:h,tone:Gs[h]??"idle",token:c.permit.token}})],i=new Set,l=new Map;for(let c of a)i.has(c.token)||c.to<n||(i.add(c.token),l.set(c.who,[...l.get(c.who)??[],c]));if(l.size===0)return r`<${O} title="Nobody held it in this time." />`;let p=c=>1e3*(Math.max(c,n)-n)/(o-n),d=e.filter(c=>!c.permit&&Date.parse(c.at)>=n);return r`<div class="timeline">
    ${[...l].slice(0,gr).map(([c,h])=>{let m=h[0],u=`${c}: ${R(h.length,"permit","permits")}, the last from ${M(m.from)}, ${m.how}`;return r`<div class="lane" key=${c}>
        <span class="lane-name">${c}</span>
        <svg viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label=${u}>
          <rect class="track" width="1000" height="18" />
          ${h.map(f=>r`<rect key=${f.token} class="fill-${f.tone}" x=${p(f.from)} y="2" height="14" width=${Math.max(1.5,p(f.to)-p(f.from))}>
            <title>${`${f.who}: ${M(f.from)}, ${f.how} after ${X(f.to-f.from)}, token ${f.token}`}</title>
          </rect>`)}
          ${d.map(f=>r`<line key=${f.revision} class="mark" x1=${p(Date.parse(f.at))} x2=${p(Date.parse(f.at))} y1="0" y2="18"><title>${`${N(f.kind,"EVENT_KIND_")} by ${f.author??"–"} at ${M(f.at)}`}</title></line>`)}
        </svg>
      </div>`})}
    <div class="lane axis" aria-hidden="true">
      <span class="lane-name"></span>
      <span class="ticks num">${Array.from({length:Mn+1},(c,h)=>r`<span key=${h}>${h===Mn?"now":tt(n+(o-n)*h/Mn).slice(0,-3)}</span>`)}</span>
    </div>
    ${(l.size>gr||s)&&r`<p class="faint">Not everything fits here. <a href="?tab=history&permits=1">The history has all of it.</a></p>`}
  </div>`}function Ys({permit:e,onClose:t,onDone:n}){let[o,s]=_({reason:"",drain:"",unsafe:!1}),[a,i]=_(null),[l,p]=_(!1);return r`<${le} title="Revoke a permit" onClose=${t}>
    <form onSubmit=${async c=>{if(c.preventDefault(),!l){p(!0);try{let h={reason:o.reason,...de()};o.drain.trim()&&(h.drain=Te(o.drain)),o.unsafe&&(h.unsafe_now=!0),await C(re`/v1/permits/${e.token}:revoke`,h),$e(`The permit of ${L(e.identity)} is revoked.`),n(),t()}catch(h){i(h),p(!1)}}}}>
      <p>${L(e.identity)} must stop. Its refreshes are refused from now on, and its slot is free when it releases, or at its deadline.</p>
      <${P} label="Reason" value=${o.reason} onInput=${c=>s({...o,reason:c})} maxlength="1024" />
      <${P} label="Drain" placeholder="2m" value=${o.drain} onInput=${c=>s({...o,drain:c})} error=${We(()=>Te(o.drain))} help="How long it may continue. Empty: not at all." />
      <${ae} label="Free the slot at once" checked=${o.unsafe} onChange=${c=>s({...o,unsafe:c})}
        help="Unsafe: the holder may still run, and then two run at the same time. Only a fencing token protects what they write." />
      <${B} error=${a} />
      <p class="row end">
        <button type="button" onClick=${t}>Cancel</button>
        <button class=${o.unsafe?"danger":"primary"}>${l?"Working …":o.unsafe?"Revoke and free the slot":"Revoke"}</button>
      </p>
    </form>
  <//>`}function Xs({permit:e,onClose:t,onDone:n}){let[o,s]=_(""),[a,i]=_(null);return r`<${le} title="Clear a slot" onClose=${t}>
    <form onSubmit=${p=>{p.preventDefault(),C(re`/v1/permits/${e.token}:clear`,{reason:o,...de()}).then(()=>{$e("The slot is free."),n(),t()},i)}}>
      <p>The permit of ${L(e.identity)} expired, and its slot is held. Clear it when you know that its job does not run any more.</p>
      <${P} label="Reason" value=${o} onInput=${s} maxlength="1024" />
      <${B} error=${a} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Clear the slot</button></p>
    </form>
  <//>`}var Zs=e=>Object.entries(e??{}).map(([t,n])=>`${t}=${n}`).join(", ");function ea({permits:e,onChange:t}){let[n,o]=_(null),s=()=>o(null);return r`<section class="panel">
    <h2>Holders</h2>
    <${G}
      caption="Holders"
      rows=${e}
      rowKey=${a=>a.token}
      empty=${r`<${O} title="Nobody holds a permit." />`}
      columns=${[["Holder",a=>r`${L(a.identity)}${a.identity?.holder_id&&r`<div class="sub">${a.identity.holder_id}</div>`}`,"name"],["State",a=>r`<span class="tone-${Ao(a)}">${Oo(a)}</span>`],["Since",a=>r`<${ie} at=${a.granted_at} />`,"num"],["Time left",a=>r`<${jt} at=${a.deadline} of=${I(a.duration)} />`,"num"],["Weight",a=>b(a.weight),"num"],["Token",a=>a.token,"num"],["For",a=>[Fe(a.firing),Zs(a.metadata)].filter(Boolean).join("; ")||"–"],["",a=>a.state==="PERMIT_STATE_HELD"?r`<${W} role="ROLE_OPERATOR" semaphore=${a.semaphore} onClick=${()=>o({clear:a})}>Clear …<//>`:a.state==="PERMIT_STATE_COOLING"?null:r`<${W} role="ROLE_OPERATOR" semaphore=${a.semaphore} group=${a.identity?.group} acquirer=${a.identity?.acquirer} onClick=${()=>o({revoke:a})}>Revoke …<//>`,"end"]]}
    />
    ${n?.revoke&&r`<${Ys} permit=${n.revoke} onClose=${s} onDone=${t} />`}
    ${n?.clear&&r`<${Xs} permit=${n.clear} onClose=${s} onDone=${t} />`}
  </section>`}function ta({data:e}){let t=n=>new Date(e.at-I(n.waiting)).toISOString();return r`<section class="panel">
    <h2>Queue</h2>
    <${G}
      caption="Waiters"
      rows=${e.waiters}
      rowKey=${n=>`${n.request_id}/${n.place}`}
      empty=${r`<${O} title="Nobody waits." />`}
      columns=${[["Place",n=>n.place||"idle worker","num"],["Waiter",n=>L(n.identity),"name"],["Weight",n=>b(n.weight),"num"],["Waiting for",n=>r`<${ie} at=${t(n)} />`,"num"]]}
      note=${e.next_page_token&&"More wait than are shown here."}
    />
    ${(e.tasks??[]).map(n=>r`<p key=${n.job}><a href=${`/jobs/${encodeURIComponent(n.job)}`}>${n.job}</a>: ${b(n.tasks)} tasks wait for a worker.</p>`)}
  </section>`}var na=e=>`?${new URLSearchParams({tab:"explain",group:e.identity?.group??"",acquirer:e.identity?.acquirer??""})}`;function oa({rows:e,caption:t}){return r`<${G}
    caption=${t}
    rows=${e}
    rowKey=${n=>`${n.semaphore} ${L(n.identity)}`}
    columns=${[["Caller",n=>L(n.identity),"name"],["Why",n=>r`${n.message}<div class="sub">${N(n.reason,"REASON_")}${n.let_in&&`; ${L(n.let_in)} was let in, so it may be a standby`}${n.cured&&"; would not be denied now"}</div>`],["Times",n=>b(n.count),"num"],["Last",n=>r`<span title=${M(n.last)}><${ie} at=${n.last} /> ago</span>`,"num"],["",n=>r`<a href=${n.semaphore?na(n):void 0}>Explain</a>`,"end"]]}
  />`}function ra({name:e,events:t}){let n=E(o=>x("/v1/denied",{names:[e],cured:!0},o),["denied",e,t],{every:1e4,keep:!0});return r`<section class="panel">
    <h2>Denied</h2>
    <${z} of=${n} what="Reading who was denied">
      ${o=>r`
        ${o.callers?.length?r`<${oa} rows=${o.callers} caption="Callers that were denied" />`:r`<${O} title="Nobody is denied.">Callers show here when waiting does not help them${o.since?`; remembered since ${M(o.since)}`:""}.<//>`}
        ${o.misspelled?.length>0&&r`<h3>They may mean this semaphore</h3>
          <ul>${o.misspelled.map(s=>r`<li>${L(s.identity)} asks for <code>${s.semaphore}</code>, which does not exist.</li>`)}</ul>`}`}
    <//>
  </section>`}function br({name:e,of:t}){return r`<div class="stack">
    <${z} of=${t.holders} what="Reading who holds it">${n=>r`<${ea} permits=${n} onChange=${t.read} />`}<//>
    <${vr} name=${e} permits=${t.holders.data??[]} events=${t.events} />
    <div class="panels">
      <${z} of=${t.waiters} what="Reading the queue">${n=>r`<${ta} data=${n} />`}<//>
      <${ra} name=${e} events=${t.events} />
    </div>
  </div>`}function Kt(e={}){let t={};for(let n of fe){let o=e[n.name];switch(n.kind){case"labels":t[n.name]=Object.keys(o??{}).sort().map(s=>o[s]===""?s:`${s}=${o[s]}`).join(`
`);break;case"duration":t[n.name]=Ge(o);break;case"flag":t[n.name]=o?"yes":"no";break;case"choice":t[n.name]=Pe(n,e);break;default:t[n.name]=String(o??(n.kind==="number"&&n.name==="max_attempts"?0:""))}}return t}function yr(e,t={}){let n={...t},o={};for(let s of fe){let a=e[s.name]??"";try{let i=sa(s,a);i===void 0?delete n[s.name]:n[s.name]=i}catch(i){o[s.name]=i.message}}return{definition:n,errors:o}}function sa(e,t){switch(e.kind){case"labels":{let n={};for(let o of t.split(`
`).map(s=>s.trim()).filter(Boolean)){let s=o.indexOf("="),a=(s<0?o:o.slice(0,s)).trim();if(!a)throw new Error(`“${o}” has no key. Write key=value.`);if(Object.hasOwn(n,a))throw new Error(`The key ${a} stands here twice.`);Object.defineProperty(n,a,{value:s<0?"":o.slice(s+1).trim(),enumerable:!0})}return n}case"duration":return Te(t);case"number":{if(t.trim()==="")return;if(!/^\d+$/.test(t.trim()))throw new Error(`“${t}” is not a whole number.`);return Number(t)}case"flag":return t==="yes";case"choice":return e.prefix+t.toUpperCase();case"pattern":if(t==="")throw new Error("An empty pattern would let nobody in. .* lets everybody in.");return t}return t}function wr(e,t,n){let o={},s=[],a=[];for(let i of fe){let[l,p,d]=[e[i.name],t[i.name],n[i.name]];o[i.name]=p===l?d:p,p!==l&&d!==l&&p!==d&&(s.push(i.name),o[i.name]=d),(p!==l||d!==l)&&a.push({field:i,base:l,mine:p,theirs:d})}return{merged:o,conflicts:s,rows:a}}function kr({of:e,base:t,onMerged:n,onCancel:o}){let{theirs:s,conflicts:a,rows:i}=e,[l,p]=_({}),d=a.filter(m=>!l[m]),c=()=>{let m={...e.merged};for(let u of i)l[u.field.name]&&(m[u.field.name]=u[l[u.field.name]]);n(m)},h=m=>{let u=m.field.name;if(!a.includes(u))return m.mine===m.theirs?r`<${Wt}>the same<//>`:m.mine!==m.base?r`<${Wt} tone="accent">yours<//>`:r`<${Wt} tone="wait">theirs<//>`;let f=(g,$)=>r`<label class="radio">
      <input type="radio" name=${`keep-${u}`} checked=${l[u]===g} onChange=${()=>p({...l,[u]:g})} /> ${$}
    </label>`;return r`<fieldset class="radios"><legend class="sr-only">Which ${m.field.label} to keep</legend>${f("mine","yours")}${f("theirs","theirs")}</fieldset>`};return r`<section class="panel conflict" aria-label="Conflict">
    <h2>Somebody else was faster</h2>
    <p role="alert">${s.updated_by||"Somebody"} saved version ${s.version} at ${M(s.updated_at)}${s.reason&&` (${s.reason})`}. You began
      with version ${t?.version??"–"}. Nothing of yours is saved yet, and nothing is lost.</p>
    <${G}
      caption="Fields that differ"
      rows=${i}
      rowKey=${m=>m.field.name}
      columns=${[["Field",m=>m.field.label],["When you began",m=>r`<code>${m.base||"(none)"}</code>`],["Yours",m=>m.mine===m.base?r`<span class="faint">unchanged</span>`:r`<ins>${m.mine||"(none)"}</ins>`],["Theirs",m=>m.theirs===m.base?r`<span class="faint">unchanged</span>`:r`<ins class="theirs">${m.theirs||"(none)"}</ins>`],["Keep",h]]}
    />
    <p class="row end">
      <span class="grow" role="status">${d.length?`Choose for ${d.length===1?"1 field":`${d.length} fields`} that you both changed.`:"Everything is decided."}</span>
      <button type="button" onClick=${o}>Back to the form</button>
      <button type="button" class="primary" aria-disabled=${d.length?"true":void 0} onClick=${()=>d.length||c()}>Review the result …</button>
    </p>
  </section>`}var Ln=60;function Er({name:e,group:t,acquirer:n}){let[o,s]=_({group:t,acquirer:n});T(()=>{let u=setTimeout(()=>s({group:t,acquirer:n}),250);return()=>clearTimeout(u)},[t,n]);let a=E(u=>ke("/v1/known",{},"callers",u,1e3),["known"]),i=E(o.group&&o.acquirer?async u=>{let f={name:`${e.slice(0,60)}~pattern-test`,group_pattern:o.group,acquirer_pattern:o.acquirer};return(await C("/v1/preview",{edits:{edits:[{create:f}]}},u)).effects?.[0]??{}}:null,["patterns",o],{keep:!0}),l=a.data?.items??[],p=i.data?.eligible??i.data?.total_admitted??0,d=new Set((i.data?.admitted??[]).map(u=>`${u.acquirer} in ${u.group}`)),c=i.error&&!i.error.offline?i.error.fields?.[0]?.rule??i.error.message:"",h=d.size>=p,m=[...l].sort((u,f)=>d.has(`${f.acquirer} in ${f.group}`)-d.has(`${u.acquirer} in ${u.group}`));return r`<div class="pattern-test full" aria-live="polite">
    ${c?r`<p class="error">${c}</p>`:l.length===0?r`<p class="faint">Nobody was seen asking yet, so the patterns cannot be tried on anybody.</p>`:r`<p><strong class=${p?"tone-run":"tone-deny"}>These patterns let in ${p?b(p):"none"} of ${R(l.length,"known caller","known callers")}${a.data?.more?" and more":""}.</strong></p>
            <ul class="chips">${m.slice(0,Ln).map(u=>{let f=`${u.acquirer} in ${u.group}`,g=d.has(f);return!g&&!h?null:r`<li key=${f} class=${g?"in":"out"}><span aria-hidden="true">${g?"✓":"✗"}</span><span class="sr-only">${g?"let in: ":"not let in: "}</span>${f}</li>`})}${l.length>Ln&&r`<li class="out">and ${b(l.length-Ln)} more</li>`}</ul>`}
  </div>`}var xr={group_pattern:".*",acquirer_pattern:".*",permits:1,duration:"60s"};function Tr({name:e,record:t,onSaved:n}){let[o,s]=F();if(o.get("edit")==="1"||!t)return r`<${aa} name=${e} record=${t} onSaved=${n} onDone=${()=>s({edit:""})} />`;let i=t.definition;return r`<section class="panel">
    <div class="title"><h2>Rule</h2>
      <${W} role="ROLE_EDITOR" semaphore=${e} kind="primary" onClick=${()=>s({edit:"1"},{replace:!1})}>Edit<//>
    </div>
    <${Ce} of=${fe.map(l=>[l.label,Pe(l,i)&&(l.kind==="pattern"?r`<code>${Pe(l,i)}</code>`:Pe(l,i))])} />
    <p class="faint">Version ${t.version}, ${M(t.updated_at)}${t.updated_by&&`, by ${t.updated_by}`}${t.reason&&`: ${t.reason}`}</p>
  </section>`}var zt=["firing_on_loss","firing_retention","firing_limit","firing_max_ahead","max_attempts","misfire","misfire_window"];function aa({name:e,record:t,onSaved:n,onDone:o}){let[s,a]=_(t),[i,l]=_(()=>Kt(t?.definition??xr)),[p,d]=_({}),[c,h]=_(!1),[m,u]=_(null),[f,g]=_({}),$=ce(()=>Kt(s?.definition??xr),[s]),{definition:w,errors:y}=yr(i,s?.definition??{name:e}),S=!s||fe.some(v=>i[v.name]!==$[v.name]),A=Object.keys(y).length>0,k=t&&s&&t.version!==s.version?t:null;T(()=>{if(!S||!s)return;let v=se=>se.preventDefault();return addEventListener("beforeunload",v),()=>removeEventListener("beforeunload",v)},[S]);let D=v=>se=>{l(H=>({...H,[v]:se})),g(H=>({...H,[v]:void 0}))},j=s?{replace:w,expected_version:s.version}:{create:{...w,name:e}},Q=()=>({edits:[j],...De(p.drain),...s?Ue(p):{}}),U=v=>u({theirs:v,...wr($,i,Kt(v.definition))}),q=v=>{if(v.reason==="STALE_VERSION")return x(re`/v1/definitions/${e}`).then(H=>U(H.record),H=>$e(H.message,{tone:"deny"})),!0;let se=v.fields?.filter(H=>fe.some(be=>H.field.endsWith(be.name)))??[];return se.length===0?!1:(g(Object.fromEntries(se.map(H=>[fe.find(be=>H.field.endsWith(be.name)).name,H.rule]))),!0)},K=v=>{let se=y[v.name]??f[v.name],H=i[v.name],be={key:v.name,label:v.label,help:v.help,error:se,class:H!==$[v.name]?"changed":""};if(v.kind==="flag")return r`<${ae} ...${be} checked=${H==="yes"} onChange=${_t=>D(v.name)(_t?"yes":"no")} />`;if(v.kind==="choice")return r`<${xe} ...${be} value=${H} onChange=${D(v.name)} options=${v.values.map(_t=>[_t.toLowerCase(),_t.toLowerCase()])} />`;let Vt=v.kind==="labels"?3:v.name==="description"?2:void 0;return r`<${P} ...${be} value=${H} onInput=${D(v.name)} area=${Vt} name=${v.name} inputmode=${v.kind==="number"?"numeric":void 0} />`},ne=v=>{v.preventDefault(),!A&&S&&h(!0)};return m?r`<${kr}
      of=${m}
      base=${s}
      onCancel=${()=>u(null)}
      onMerged=${v=>{a(m.theirs),l(v),u(null),h(!0)}}
    />`:r`<section class="panel">
    <div class="title"><h2>${s?"Edit the rule":"Create this semaphore"}</h2></div>
    ${k&&r`<p class="note" role="alert">${k.updated_by||"Somebody"} saved another version at ${M(k.updated_at)}, while you edit.
      <button type="button" onClick=${()=>U(k)}>Compare and merge</button></p>`}
    <form onSubmit=${ne}>
      <div class="form">
        ${fe.filter(v=>!zt.includes(v.name)&&v.kind!=="pattern"&&["description","labels"].includes(v.name)).map(K)}
        ${fe.filter(v=>v.kind==="pattern").map(K)}
        <${Er} name=${e} group=${i.group_pattern} acquirer=${i.acquirer_pattern} />
        ${fe.filter(v=>!zt.includes(v.name)&&v.kind!=="pattern"&&!["description","labels"].includes(v.name)).map(K)}
      </div>
      <details open=${zt.some(v=>i[v]!==$[v]||y[v])}>
        <summary>Firings</summary>
        <div class="form">${fe.filter(v=>zt.includes(v.name)).map(K)}</div>
      </details>
      <p class="row end sticky-end">
        ${S&&r`<span class="grow faint">Nothing is saved yet.</span>`}
        ${s&&r`<button type="button" onClick=${o}>${S?"Discard":"Back"}</button>`}
        <${W} role="ROLE_EDITOR" semaphore=${e} type="submit" kind="primary" why=${A?"A field has a mistake.":S?"":"Nothing was changed."}>Review and save …<//>
      </p>
    </form>
    ${c&&r`<${he}
      title=${s?`Save ${e}`:`Create ${e}`}
      verb=${s?"Save":"Create"}
      role="ROLE_EDITOR"
      semaphore=${e}
      deps=${p}
      preview=${async v=>C("/v1/preview",{edits:Q()},v)}
      run=${async v=>C("/v1/definitions:edit",{...Q(),...v})}
      done=${v=>`${e} is ${s?"saved":"created"}, as change ${v.revision}.`}
      onError=${q}
      onClose=${()=>h(!1)}
      onDone=${()=>{n(),o()}}
    >
      ${s&&r`<details><summary>Only for a time, or with a drain</summary>
        <div class="form"><${Ye} value=${p} set=${d} without="Then the old values come back. Empty: for good." /><${He} value=${p} set=${d} /></div>
      </details>`}
    <//>`}
  </section>`}function Sr({name:e,events:t}){let n=E(s=>x("/v1/jobs",{semaphore:e,page_size:200},s),["jobs",e,t],{every:5e3,keep:!0}),o=E(s=>x("/v1/workers",{semaphore:e},s),["workers",e,t],{every:5e3,keep:!0});return r`<div class="stack">
    <section class="panel"><h2>Jobs</h2>
      <${z} of=${n} what="Reading the jobs">
        ${s=>s.jobs?.length?r`<${xn} jobs=${s.jobs} />`:r`<${O} title="It has no jobs.">Submit one with gkctl job submit.<//>`}
      <//>
    </section>
    <section class="panel"><h2>Workers</h2>
      <${z} of=${o} what="Reading the workers">${s=>r`<${Tn} data=${s} />`}<//>
    </section>
  </div>`}var ia=[["now","Now"],["rule","Rule"],["history","History"],["firings","Firings"],["tasks","Tasks"],["explain","Explain"]],la=(e,t)=>e.map(n=>({...n,deadline:n.expires_in?t+I(n.expires_in):0}));function ca(e){let t=E(d=>x(re`/v1/definitions/${e}`,{},d),["record",e],{every:15e3}),n=E(async d=>{let c=Date.now();return la((await ke("/v1/holders",{names:[e]},"permits",d)).items,c)},["holders",e],{every:15e3}),o=E(async d=>({at:Date.now(),...await x("/v1/waiters",{names:[e],page_size:200},d)}),["waiters",e],{every:5e3}),[s,a]=_(null),[i,l]=_(0),p=Le(()=>{t.refresh(),n.refresh(),o.refresh(),l(d=>d+1)},40,{rest:1e3});return Se("/v1/watch",{names:[e],permits:!0,live_every:"1s"},{open:d=>d&&p(),missed:p,message:({events:d=[]})=>d.length&&p(),live(d){let c=(d.live.semaphores??[]).find(u=>u.semaphore===e),h=Date.now(),m=new Map((c?.deadlines??[]).map(u=>[u.token,h+I(u.expires_in)]));n.set(u=>u?.map(f=>m.has(f.token)?{...f,deadline:m.get(f.token)}:f)),s&&(c?.waiters??0)!==s.waiters&&o.refresh(),a({waiters:c?.waiters??0})}}),{record:t,holders:n,waiters:o,live:s,events:i,read:p}}function ua({record:e,onChange:t}){let[n,o]=_(""),s=e.definition.name,a=()=>o("");return r`
    ${e.pause?r`<${W} role="ROLE_OPERATOR" semaphore=${s} onClick=${()=>o("resume")}>Resume …<//>`:r`<${W} role="ROLE_OPERATOR" semaphore=${s} onClick=${()=>o("pause")}>Pause …<//>`}
    <a class="button" href=${`/move?names=${encodeURIComponent(s)}`}>Move …</a>
    <${W} role="ROLE_EDITOR" semaphore=${s} kind="danger" onClick=${()=>o("delete")}>Delete …<//>
    ${n==="pause"&&r`<${mr} selector=${{names:[s]}} onClose=${a} onDone=${t} />`}
    ${n==="resume"&&r`<${fr} selector=${{names:[s]}} onClose=${a} onDone=${t} />`}
    ${n==="delete"&&r`<${he}
      title=${`Delete ${s}`}
      verb="Delete it"
      kind="danger"
      role="ROLE_EDITOR"
      semaphore=${s}
      preview=${i=>C("/v1/preview",{edits:{edits:[{delete:s,expected_version:e.version}]}},i)}
      run=${i=>C("/v1/definitions:edit",{edits:[{delete:s,expected_version:e.version}],...i})}
      done=${()=>`${s} is deleted.`}
      onDone=${()=>pe("/")}
      onClose=${a}
    />`}`}function pa({record:e,holders:t,live:n}){let o=Number(e.used??0),s=e.definition.permits??0;return r`<dl class="figures">
    <div><dt>In use</dt><dd class="num">${b(o)}<span class="faint"> / ${b(s)}</span></dd>
      <dd><${_e} share=${s?o/s:o?1:0} label="${o} of ${s} permits in use" /></dd></div>
    <div><dt>Holders</dt><dd class="num">${b(t?.length??e.holders)}</dd></div>
    <div><dt>Queue</dt><dd class="num">${b(n?.waiters??e.waiters)}</dd></div>
  </dl>`}function Cr({name:e}){oe(e);let t=ca(e),[n]=F(),o=n.get("tab")??"now",s=t.record.data?.record,a=t.record.error?.code==="NOT_FOUND",i=a&&!s;return r`
    <${Z} aside=${s&&r`<${ua} record=${s} onChange=${t.read} />`}>${e}<//>
    <${qe} />
    ${a&&r`<p class="note">There is no definition of this name${s?" any more":""}. Its history and firings may still be known.</p>`}
    ${s&&!a&&r`<div class="standing">
      <p class="row">${ft(s).map(l=>r`<${$t} key=${l.value} value=${l.value} />`)}</p>
      ${Ft(s).map(l=>r`<p class="note">${l}</p>`)}
      <${pa} record=${s} holders=${t.holders.data} live=${t.live} />
    </div>`}
    ${t.record.error&&!a&&!t.record.error.offline&&r`<${B} error=${t.record.error} retry=${t.record.refresh} />`}
    <${nt} of=${ia} label="Parts of this semaphore" />
    ${!s&&!a?!t.record.error&&r`<${me} what="Reading the semaphore" />`:o==="rule"?r`<${Tr} key=${e} name=${e} record=${a?null:s} onSaved=${t.read} />`:o==="history"?r`<${_r} name=${e} events=${t.events} onChange=${t.read} />`:o==="firings"?r`<${$r} name=${e} events=${t.events} />`:o==="explain"?r`<${hr} name=${e} />`:i?r`<${O} title="Nothing to show.">Create it under <a href="?tab=rule">Rule</a>, or look at its <a href="?tab=history">history</a>.<//>`:o==="tasks"?r`<${Sr} name=${e} events=${t.events} />`:r`<${br} name=${e} of=${t} />`}`}var da=[[/^\/$/,rr],[/^\/s\/(.+)$/,Cr],[/^\/move$/,ur],[/^\/activity$/,Ho],[/^\/jobs$/,Go],[/^\/jobs\/(.+)$/,Yo],[/^\/cluster$/,Vo],[/^\/access$/,Wo]];function ma(){return oe("No such page"),r`<${Z}>No such page<//><${O} title="There is nothing at this address."><a href="/">Go to the overview</a><//>`}function fa(){let e=J(Ve).split("?")[0],t=J(Ie),[n,o]=_(!1),s=J(Ee);if(T(()=>{e!=="/login"&&!Ee.get()&&cn().catch(()=>{}).then(()=>o(!0))},[e==="/login",t]),e==="/login")return r`<${qt} bare><${Xo} /><//>`;if(!s&&!n)return r`<${qt} bare><${me} what="Asking who you are" /><//>`;let[a,i]=mo(e,da)??[ma,[]];return r`<${qt}><${a} key=${e} name=${i[0]} /><//>`}Gn(r`<${fa} />`,document.getElementById("app"));
//# sourceMappingURL=app.js.map
